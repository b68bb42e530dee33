// What `temporalex store` reports about damage, oddities and invalid history files: nothing is
// deleted, and nothing is an internal error.
import assert from "node:assert/strict";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { filled, inFolder, sql, twice, withEngine } from "../engine/support/filled_store.ts";
import { CliConverter, showValue } from "../../../ts/cli/text/values.ts";
import { run } from "./support/run.ts";

const DAMAGED = "UPDATE runs SET head = x'00' WHERE workflow_id = 'c1'";

test("store backup keeps a copy of a damaged store and reports it by message and exit code", () =>
  filled(async ({ path, folder }) => {
    sql(path, (database) => database.exec(DAMAGED));
    const text = await run(["store", "backup", "copy.sqlite", "--store", path], { cwd: folder });
    assert.equal(text.code, 1);
    assert.match(
      text.out,
      /damaged {2}Completes "c1" \(run [0-9a-f-]+\)\n {4}its state cannot be decoded\n/,
    );
    assert.match(
      text.out,
      /copy\.sqlite: 7 runs \(2 open\), .*, copied and kept, with 1 problem: .*Keep older backups too\n$/,
    );
    assert.ok(existsSync(join(folder, "copy.sqlite")));
    const found = await run(["store", "backup", "again.sqlite", "--store", path, "--json"], {
      cwd: folder,
    });
    assert.equal(found.code, 1);
    const { ok, problems, notes } = JSON.parse(found.out);
    assert.deepEqual([ok, problems.length, problems[0].workflowId, notes], [false, 1, "c1", []]);
    // The other runs of the copy are there.
    await withEngine(join(folder, "copy.sqlite"), async (client) => {
      assert.equal(await client.getHandle(twice, "t1").result(), "end");
    });
  }));

test("store import copies a whole damaged store; by runs, it rejects the damaged runs by name", () =>
  filled(async ({ path, folder }) => {
    sql(path, (database) => {
      database.exec(DAMAGED);
      database.exec(
        "UPDATE history SET events = x'ffff' WHERE run_key = (SELECT run_key FROM runs WHERE workflow_id = 'f1')",
      );
    });
    const whole = await run(["store", "import", path, "--store", "new.sqlite"], { cwd: folder });
    assert.equal(whole.code, 1);
    assert.match(
      whole.out,
      /7 runs \(2 open\) imported into the new store .*new\.sqlite, copied and kept, with 2 problems/,
    );
    assert.equal((await run(["store", "check", "--store", "new.sqlite"], { cwd: folder })).code, 1);
    const byRuns = await run(["store", "import", path, "--store", "runs.sqlite", "--closed-only"], {
      cwd: folder,
    });
    assert.equal(byRuns.code, 1);
    assert.match(
      byRuns.err,
      /nothing was imported:\n.*run .* of workflow "f1" is damaged: its history cannot be decoded/,
    );
  }));

const started = (attributes: object = {}) => ({
  eventId: "1",
  eventTime: "2024-01-01T00:00:00Z",
  eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_STARTED",
  workflowExecutionStartedEventAttributes: {
    workflowId: "w",
    workflowType: { name: "W" },
    ...attributes,
  },
});
const novel = {
  eventId: "2",
  eventTime: "2024-01-01T00:00:01Z",
  eventType: "EVENT_TYPE_NOVEL",
  novelEventAttributes: {},
};
const completed = (id: number) => ({
  eventId: String(id),
  eventTime: "2024-01-01T00:00:02Z",
  eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED",
  workflowExecutionCompletedEventAttributes: {},
});

test("store import accepts a history of a newer server with a note, and a given run id for a history without one", () =>
  inFolder(async (folder) => {
    writeFileSync(
      join(folder, "novel.json"),
      JSON.stringify({ events: [started({ originalExecutionRunId: "r1" }), novel, completed(3)] }),
    );
    writeFileSync(
      join(folder, "nameless.json"),
      JSON.stringify({ events: [started(), completed(2)] }),
    );
    const into = ["--store", join(folder, "s.sqlite")];
    const text = await run(["store", "import", "novel.json", ...into, "--dry-run"], {
      cwd: folder,
    });
    assert.equal(text.code, 0, text.err);
    assert.match(
      text.err,
      /note: .*novel\.json: events\[1\] \(eventId 2\) is of type "EVENT_TYPE_NOVEL", which this version does not support/,
    );
    const { out } = await run(["store", "import", "novel.json", ...into, "--json"], {
      cwd: folder,
    });
    assert.equal(JSON.parse(out).notes.length, 1);
    const nameless = await run(["store", "import", "nameless.json", ...into], { cwd: folder });
    assert.equal(nameless.code, 1);
    assert.match(nameless.err, /the history has no run id: set --run-id/);
    const both = await run([
      "store",
      "import",
      "nameless.json",
      "novel.json",
      "--run-id",
      "r2",
      ...into,
    ], { cwd: folder });
    assert.equal(both.code, 2);
    assert.match(both.err, /--run-id names one run, and there are several files/);
    assert.equal(
      (await run(["store", "import", "nameless.json", "--run-id", "r2", ...into], { cwd: folder }))
        .code,
      0,
    );
    const sound = await run(["store", "check", ...into], { cwd: folder });
    assert.equal(sound.code, 0, sound.out);
    assert.match(
      sound.out,
      /^note {2}W "w" \(run r1\)\n {4}event 2 \(UNSPECIFIED\) has a type that .*\nsound: 2 runs \(0 open\), 5 events\n$/,
    );
  }));

const deep = (head: string, tail = "") =>
  `${head}${"[".repeat(100_000)}${"]".repeat(100_000)}${tail}`;
const DEEP: readonly (readonly [name: string, text: string])[] = [
  ["list.json", deep("")],
  ["events.json", deep('{"events": ', "}")],
  ["id.json", deep('{"events": [{"eventId": ', "}]}")],
  ["lines.jsonl", deep('{"workflowId": "w", "runId": "r", "history": ', "}\n")],
  ["texts.json", JSON.stringify(deep('{"events": ', "}"))],
];

test("deeply nested JSON is rejected by store import, replay and --input with its position", () =>
  inFolder(async (folder) => {
    writeFileSync(
      join(folder, "w.ts"),
      'import { workflow } from "temporalex/workflow"; export const w = workflow("W", async () => 1);',
    );
    for (const [name, text] of DEEP) {
      writeFileSync(join(folder, name), text);
      const imported = await run(["store", "import", name, "--store", "s.sqlite"], { cwd: folder });
      assert.equal(imported.code, 1, name);
      assert.match(imported.err, /nested more than 1000 levels deep \(line 1, column \d+\)/, name);
      const replayed = await run(["replay", "--workflows", "w.ts", name], { cwd: folder });
      assert.equal(replayed.code, 2, name);
      assert.match(replayed.out, /nested more than 1000 levels deep \(line 1, column \d+\)/, name);
      assert.doesNotMatch(
        imported.err + replayed.out + replayed.err,
        /call stack|bug of temporalex/,
      );
    }
    writeFileSync(join(folder, "input.json"), deep(""));
    for (
      const args of [["--input", deep("")], ["--input-file", "input.json"], [
        "--input",
        "1",
        "--memo",
        `m=${deep("")}`,
      ]]
    ) {
      const { code, err } = await run([
        "workflow",
        "start",
        "--store",
        "s.sqlite",
        "--type",
        "W",
        ...args,
      ], { cwd: folder });
      assert.equal(code, 2, err);
      assert.match(
        err,
        /cannot be used: it is nested more than 1000 levels deep \(line 1, column 1001\); pass a flatter value/,
      );
    }
  }));

test("a payload with deeply nested JSON is shown as bytes", () => {
  const utf8 = new TextEncoder();
  const payload = (data: string) => ({
    metadata: { encoding: utf8.encode("json/plain") },
    data: utf8.encode(data),
  });
  const converter = new CliConverter();
  assert.deepEqual(converter.fromPayload(payload("[[1]]") as never), [[1]]);
  const shown = showValue(converter.fromPayload(payload(deep("")) as never));
  assert.deepEqual(Object.keys(JSON.parse(shown)), ["metadata", "data"]);
});
