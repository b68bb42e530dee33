// Looking after store files: what is sound is called sound, also while an engine works
// (store_damage.test.ts has what is not); histories come back as closed runs that the engine takes
// for its own.
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { delay } from "@std/async/delay";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { loadCore } from "../../../ts/core/mod.ts";
import { type Client, WorkflowFailedError } from "../../../ts/client/mod.ts";
import { SqliteStore } from "../../../ts/engine/mod.ts";
import {
  closedRun,
  copiedRun,
  ImportError,
  StoreReader,
} from "../../../ts/engine/maintenance/mod.ts";
import { MemoSchema } from "../../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { fromBinary } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  check,
  completes,
  fails,
  family,
  filled,
  go,
  inFolder,
  sql,
  twice,
  waits,
  withEngine,
} from "./support/filled_store.ts";
import { created } from "./support/records.ts";

test("a sound store has no problems, also while an engine uses it; every run is checked", () =>
  filled(async ({ path }) => {
    const found = await check(path);
    assert.deepEqual(found.problems, []);
    assert.equal(found.runs, 7);
    assert.equal(found.openRuns, 2);
    assert.ok(found.events > 20);
    await withEngine(path, async (client) => {
      const open = client.getHandle("Waits", "o1");
      const [during] = await Promise.all([check(path), open.signal("go")]);
      assert.deepEqual(during.problems, []);
      await open.result();
      assert.deepEqual((await check(path)).problems, []);
    });
    const core = await loadCore("engine");
    let open = 0;
    const counting = {
      ...core,
      createEngine(options: Parameters<typeof core.createEngine>[0]) {
        const engine = core.createEngine(options);
        const dispose = engine.dispose.bind(engine);
        open++;
        return Object.assign(engine, { dispose: () => (open--, dispose()) });
      },
    };
    assert.deepEqual((await check(path, { core: counting })).problems, []);
    assert.equal(open, 0, "a check gives the core's memory back");
    let seen = 0;
    const replayed = await check(path, {
      replay: (row: { workflowId: string }) =>
        Promise.resolve(row.workflowId === "c1" ? "it diverges" : undefined),
      onProgress: (done: number) => seen = done,
    });
    assert.equal(replayed.replayed, 7);
    assert.equal(seen, 7);
    assert.deepEqual(replayed.problems.map(({ workflowId, message }) => [workflowId, message]), [[
      "c1",
      "it diverges",
    ]]);
  }));

test("a closed run with an undelivered message to another run is sound, and the engine delivers it", () =>
  filled(async ({ path }) => {
    // The end of a child, for a parent that is gone by now.
    const order =
      "INSERT INTO items SELECT run_key, 9, '000000000001', x'08061204676f6e65' FROM runs WHERE workflow_id = 'c1'";
    sql(path, (database) => {
      database.exec(order);
      database.exec("UPDATE runs SET ready = 1 WHERE workflow_id = 'c1'");
    });
    assert.deepEqual((await check(path)).problems, []);
    const store = SqliteStore.open(path);
    const purged = store.purge({ closedBefore: Date.now() + 1000 }).length;
    store.close();
    assert.equal(purged, 4, "it stays until that is done");
    await withEngine(path, (client) => client.execute(completes, { id: "other", args: ["x"] }));
    const again = SqliteStore.open(path);
    assert.equal(again.purge({ closedBefore: Date.now() + 1000 }).length, 2);
    again.close();
    assert.deepEqual((await check(path)).problems, []);
  }));

/** Fields of an encoded message by number; scalars as numbers. */
function fields(bytes: Uint8Array): Map<number, number | string> {
  const reader = new BinaryReader(bytes);
  const found = new Map<number, number | string>();
  while (reader.pos < reader.len) {
    const [field, type] = reader.tag();
    if (type === WireType.Varint) found.set(field, Number(reader.int64()));
    else if (type === WireType.LengthDelimited) {
      found.set(field, new TextDecoder().decode(reader.bytes()));
    } else reader.skip(type, field);
  }
  return found;
}

// Request ids, retries of the first start, sticky queues, transition counts: no response depends on
// them.
const OWN = new Set([9, 22, 23, 24, 29, 30, 32, 33, 34, 37, 38, 39, 44, 45, 46, 14, 26, 50]);
const publicFields = (head: Uint8Array) =>
  [...fields(head)].filter(([field]) => !OWN.has(field)).sort((a, b) => a[0] - b[0]);

test("an event that arrived while a task was running keeps its time and is not damage, here and after an import", () =>
  inFolder(async (folder) => {
    const path = join(folder, "a.sqlite");
    await withEngine(path, async (client, engine) => {
      const handle = await client.start(waits, { id: "w1" });
      const service = typedService(engine);
      const task = await service.pollWorkflowTaskQueue({
        namespace: "default",
        taskQueue: { name: "q" },
        identity: "by hand",
      });
      await handle.signal(go);
      await delay(5);
      await service.respondWorkflowTaskFailed({ namespace: "default", taskToken: task.taskToken });
    }, false);
    await withEngine(path, (client) => client.getHandle(waits, "w1").result());
    assert.deepEqual((await check(path)).problems, []);
    const reader = StoreReader.open(path);
    try {
      for (const run of reader.runs()) {
        const history = Uint8Array.from(run.history().flatMap((part) => [...part]));
        const times = fromBinary(HistorySchema, history).events.map((event) =>
          timestampMs(event.eventTime!)
        );
        assert.ok(times.some((time, i) => time < times[i - 1]!), "nothing was kept back");
        assert.equal(closedRun({ history }).row!.workflowId, "w1");
      }
    } finally {
      reader.close();
    }
  }));

test("a closed run rebuilt from its history equals the engine's record", () =>
  filled(async ({ path }) => {
    const reader = StoreReader.open(path);
    let compared = 0;
    try {
      for (const run of reader.runs()) {
        if (run.row.closeTimeMs === 0) continue;
        const parts = run.history();
        const history = Uint8Array.from(parts.flatMap((part) => [...part]));
        const made = closedRun({ history });
        const { row, head } = run.record;
        assert.deepEqual({ ...made.row!, historySizeBytes: 0 }, { ...row!, historySizeBytes: 0 });
        assert.deepEqual(publicFields(made.head), publicFields(head), row!.workflowId);
        compared++;
      }
    } finally {
      reader.close();
    }
    assert.equal(compared, 5);
  }));

test("imported runs return the same description, history, result and pages; a second import is rejected; a later start works", () =>
  filled(async ({ path, folder }) => {
    const target = join(folder, "b.sqlite");
    await withEngine(target, async (client) => {
      await client.start(waits, { id: "c1" });
    });
    const reader = StoreReader.open(path);
    const writes: ReturnType<typeof closedRun>[] = [];
    for (const run of reader.runs()) {
      if (run.row.closeTimeMs === 0) continue;
      writes.push(
        run.row.workflowId === "t1"
          ? copiedRun(run.row, run.record.head, run.record.items, run.history())
          : closedRun({ history: Uint8Array.from(run.history().flatMap((part) => [...part])) }),
      );
    }
    reader.close();
    const store = SqliteStore.open(target);
    store.adopt(writes);
    assert.throws(() => store.adopt(writes.slice(1, 2)), /is already in the store/);
    store.close();
    assert.deepEqual((await check(target)).problems, []);
    await withEngine(target, async (client) => {
      assert.equal(
        (await client.getHandle("Waits", "c1").describe()).status,
        "RUNNING",
        "the open run of the same id is the current one",
      );
      const c1 = writes.find(({ row }) => row!.workflowId === "c1")!.row!;
      const imported = client.getHandle(completes, "c1", c1.runId);
      const description = await imported.describe();
      assert.equal(description.status, "COMPLETED");
      assert.equal(await imported.result(), "done a");
      assert.ok(fromBinary(MemoSchema, c1.memo).fields["note"]);
      await assert.rejects(client.getHandle(fails, "f1").result(), WorkflowFailedError);
      assert.equal(await client.getHandle(twice, "t1").result(), "end");
      assert.equal(await client.count('ExecutionStatus = "Running"'), 1);
      assert.equal(await client.count(), 6);
      const again = await client.start(twice, { id: "t1", args: [0] });
      assert.equal(await again.result(), "end");
      await client.getHandle("Waits", "c1").signal("go");
      await client.getHandle("Waits", "c1").result();
    });
    assert.deepEqual((await check(target)).problems, []);
  }));

test("parents and children are imported unchanged; a child continues without its purged parent", () =>
  inFolder(async (folder) => {
    const path = join(folder, "a.sqlite");
    await withEngine(path, async (client) => {
      const result = await client.execute(family, { id: "family", memo: { gone: 1, kept: 2 } });
      assert.deepEqual(result, ["end", false]);
    });
    assert.deepEqual((await check(path)).problems, []);
    const reader = StoreReader.open(path);
    const writes: ReturnType<typeof closedRun>[] = [];
    for (const run of reader.runs()) {
      if (run.row.closeTimeMs === 0) continue;
      const made = closedRun({
        history: Uint8Array.from(run.history().flatMap((part) => [...part])),
      });
      assert.deepEqual({ ...made.row!, historySizeBytes: 0 }, {
        ...run.record.row!,
        historySizeBytes: 0,
      });
      assert.deepEqual(publicFields(made.head), publicFields(run.record.head), run.row.workflowId);
      writes.push(made);
    }
    reader.close();
    assert.deepEqual(writes.map(({ row }) => row!.workflowId).sort(), [
      "chain",
      "chain",
      "failing",
      "family",
    ]);

    const target = join(folder, "b.sqlite");
    const imported = SqliteStore.open(target);
    imported.adopt(writes);
    imported.close();
    assert.deepEqual((await check(target)).problems, []);
    const parentOf = async (client: Client, id: string) =>
      (await client.getHandle("W", id).describe()).parent?.workflowId;
    await withEngine(target, async (client) => {
      assert.deepEqual(await client.getHandle(family, "family").result(), ["end", false]);
      assert.deepEqual((await client.getHandle(family, "family").describe()).memo, {
        kept: 2,
        children: 3,
      });
      assert.deepEqual([await parentOf(client, "chain"), await parentOf(client, "failing")], [
        "family",
        "family",
      ]);
      // The ids are free again, and imported runs wait for no other run.
      assert.deepEqual(await client.execute(family, { id: "family" }), ["end", false]);
    });
    assert.deepEqual((await check(target)).problems, []);

    const store = SqliteStore.open(path);
    assert.equal(store.purge({ closedBefore: Date.now() + 1000 }).length, 4);
    store.close();
    await withEngine(path, async (client) => {
      const left = client.getHandle(waits, "left");
      assert.deepEqual([(await left.describe()).status, await parentOf(client, "left")], [
        "RUNNING",
        "family",
      ]);
      await left.signal(go);
      await left.result();
      assert.equal(await client.count(), 1);
    });
    assert.deepEqual((await check(path)).problems, []);
  }));

test("invalid imports are rejected with the reason", () =>
  filled(async ({ path }) => {
    const reader = StoreReader.open(path);
    const runs = [...reader.runs()].map((run) => ({
      row: run.row,
      bytes: Uint8Array.from(run.history().flatMap((part) => [...part])),
    }));
    reader.close();
    const open = runs.find(({ row }) => row.workflowId === "o1")!;
    assert.throws(() => closedRun({ history: open.bytes }), (e) =>
      e instanceof ImportError && /is open .*import it with --open/.test(e.message));
    assert.throws(() =>
      closedRun({ history: new Uint8Array([1, 2, 3]) }), /cannot be decoded/);
    assert.throws(() => closedRun({ history: new Uint8Array(0) }), /history is empty/);
    const closed = runs.find(({ row }) => row.workflowId === "c1")!;
    assert.throws(
      () => closedRun({ history: Uint8Array.from([...closed.bytes, ...closed.bytes]) }),
      /missing or repeated events/,
    );
  }));

test("a backup of a running engine contains everything acknowledged before it", () =>
  filled(async ({ path, folder }) => {
    const copy = join(folder, "copy.sqlite");
    await withEngine(path, async (client) => {
      const handle = await client.start(completes, { id: "late", args: ["b"] });
      await handle.result();
      const reader = StoreReader.open(path);
      assert.equal(reader.holder !== undefined, true);
      reader.backup(copy);
      assert.throws(() => reader.backup(copy), /already exists/);
      reader.close();
      await client.execute(completes, { id: "after", args: ["c"] });
    });
    assert.deepEqual((await check(copy)).problems, []);
    await withEngine(copy, async (client) => {
      assert.equal(await client.getHandle(completes, "late").result(), "done b");
      assert.equal(await client.count('WorkflowId = "after"'), 0);
      await client.getHandle(waits, "o2").signal(go);
      await client.getHandle(waits, "o2").result();
    });
  }));

test("purge can select runs by a condition, and shrinking releases their space", () =>
  filled(async ({ path }) => {
    const { parseQuery } = await import("../../../ts/engine/visibility/parse.ts");
    const store = SqliteStore.open(path);
    const where = parseQuery('WorkflowType = "Twice"').where!;
    const reader = StoreReader.open(path);
    const { runs, events, historyBytes } = reader.purgeable({
      closedBefore: Date.now() + 1000,
      where,
    });
    assert.deepEqual([runs, reader.purgeable({ closedBefore: 0, where })], [2, {
      runs: 0,
      events: 0,
      historyBytes: 0,
    }]);
    assert.ok(events >= 8 && historyBytes > 100, `${events} events of ${historyBytes} bytes`);
    reader.close();
    assert.equal(store.purge({ closedBefore: Date.now() + 1000, where }).length, 2);
    assert.equal(store.purge({ closedBefore: Date.now() + 1000, where }).length, 0);
    assert.ok(store.shrink() >= 0);
    const more = Array.from({ length: 40 }, (_, i) => {
      const closed = created(`large-${i}`, `large-${i}`, 1, { closeTimeMs: 2_000, status: 2 });
      return { ...closed, put: [{ kind: 1, id: "x", value: new Uint8Array(10_000) }] };
    });
    store.commit(more);
    assert.equal(store.purge({ closedBefore: 3_000 }).length, 40);
    assert.ok(store.shrink() >= 40 * 10_000, "what was purged is given back");
    assert.equal(store.shrink(), 0);
    assert.equal(store.purge({ closedBefore: Date.now() + 1000 }).length, 3);
    store.close();
    assert.deepEqual((await check(path)).problems, []);
  }));
