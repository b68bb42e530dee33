// Bytes that the engine's host reads by hand: histories that are cut, fields of requests,
// conditions of lists as SQL.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { tagWithLength } from "../../../ts/messages/wire.ts";
import { cutBatch } from "../../../ts/engine/history_bytes.ts";
import { textField } from "../../../ts/engine/host_bytes.ts";
import { builtins } from "../../../ts/engine/sqlite/builtins.ts";
import { conditionSql } from "../../../ts/engine/sqlite/condition_sql.ts";
import type { SqlValue } from "../../../ts/engine/sqlite/driver.ts";
import { isDead, ownIdentity } from "../../../ts/engine/sqlite/process_identity.ts";
import { StoreError } from "../../../ts/engine/store_errors.ts";
import { parseQuery } from "../../../ts/engine/visibility/parse.ts";
import { eventIds, events } from "./support/records.ts";

test("a batch is split at event ids, and a damaged one throws", () => {
  const batch = events(5, 9);
  assert.equal(cutBatch(batch, 5, 9, 5, 9), batch);
  assert.deepEqual(eventIds([cutBatch(batch, 5, 9, 6, 8)]), [6, 7, 8]);
  const damaged = [
    [0x0a],
    [0x0a, 0x80],
    [0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
    [0x0b, 0x01, 0x00],
    [0x0a, 0x05, 0x00],
  ];
  for (const bytes of damaged) {
    assert.throws(
      () => cutBatch(new Uint8Array(bytes), 1, 2, 1, 1),
      (e: Error) =>
        e instanceof StoreError &&
        /stored history events 1 to 2 cannot be decoded: they are damaged$/.test(e.message),
      bytes.join(" "),
    );
  }
});

test("a text field of a request is found among others, and the last occurrence counts", () => {
  const text = (
    field: number,
    value: string,
  ) => [field << 3 | 2, value.length, ...new TextEncoder().encode(value)];
  const number = (field: number) => [field << 3, 7];
  const [A, B] = [tagWithLength(1), tagWithLength(2)];
  assert.equal(textField(new Uint8Array(0), A), "");
  assert.equal(
    textField(new Uint8Array([...text(1, "a"), ...text(2, "b"), ...text(3, "c")]), B),
    "b",
  );
  assert.equal(
    textField(new Uint8Array([...text(2, "first"), ...number(1), ...text(2, "last")]), B),
    "last",
  );
  assert.equal(textField(new Uint8Array([...text(2, "text"), ...number(2)]), B), "text");
  assert.throws(() => textField(new Uint8Array([0x12, 0x05]), B), /invalid request/);
});

test("a status condition avoids its index only inside of OR", () => {
  const sql = (query: string): string => conditionSql(parseQuery(query).where!, [] as SqlValue[]);
  assert.equal(sql("ExecutionStatus = 'Running'"), "status = ?");
  assert.equal(
    sql("ExecutionStatus = 'Running' AND WorkflowId = 'x'"),
    "(status = ? AND workflow_id = ?)",
  );
  assert.equal(
    sql("ExecutionStatus = 'Running' OR WorkflowId = 'x'"),
    "(+status = ? OR workflow_id = ?)",
  );
  assert.equal(
    sql(
      "RunId = 'r' AND (WorkflowId = 'x' OR (TaskQueue = 'q' AND ExecutionStatus IN ('Failed')))",
    ),
    "(run_id = ? AND (workflow_id = ? OR (task_queue = ? AND +status IN (?))))",
  );
});

test("a process is identified by more than its id if the system supports it", () => {
  const found = builtins()!;
  const own = ownIdentity(found);
  assert.equal(own.pid, process.pid);
  if (existsSync("/proc/self/stat")) assert.match(own.started, /^\d+$/);
  assert.equal(isDead(found, own, own), false);
  assert.equal(isDead(found, { ...own, started: "1" }, own), own.started !== "");
  assert.equal(
    isDead(found, { ...own, place: "elsewhere", pid: 2 ** 30 }, own),
    false,
    "its ids mean nothing here",
  );
  assert.equal(isDead(found, { ...own, pid: 2 ** 22 + 1 }, own), true);
});
