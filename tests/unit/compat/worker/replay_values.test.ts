// runtime: node
// `Worker.runReplayHistories` with the option `values`: edits of values that the official replayer
// accepts are reported with line and both values, and unchanged code has no changed value.
// takes: 12 s
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { readHistoryFile } from "../../../../ts/debug/mod.ts";
import { temporal } from "../../../../ts/compat/proto/mod.ts";
import {
  ChangedValuesError,
  DefaultLogger,
  ReplayError,
  type ReplayResult,
  Runtime,
  Worker,
} from "../../../../ts/compat/worker/mod.ts";
import { EDITS, PROGRAM } from "../../debug/value_edits.ts";
import { editionSources, ofType, typeOf } from "../../debug/editions.ts";
import { recordEditHistories } from "../../debug/recorded_edits.ts";
import { corpusRoot, unchangedPrograms } from "../support/corpus.ts";

const { History } = temporal.api.history.v1;
const logged: string[] = [];
Runtime.install({
  logger: new DefaultLogger("WARN", ({ message }) => void logged.push(message)),
});

let histories: Awaited<ReturnType<typeof recordEditHistories>>;
let folder: string;
before(async () => {
  histories = await recordEditHistories();
  folder = mkdtempSync(join(tmpdir(), "replay-values-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

type Values = NonNullable<Parameters<typeof Worker.runReplayHistory>[0]["values"]>;
let files = 0;
function fileOf(text: string): string {
  const path = join(folder, `program${files++}.ts`);
  writeFileSync(path, text);
  return path;
}

async function replay(workflow: string, text: string, values?: Values): Promise<ReplayResult> {
  const history = History.decode(histories[workflow]!);
  const options = { workflowsPath: fileOf(text), ...(values !== undefined && { values }) };
  const results: ReplayResult[] = [];
  const given = [{ workflowId: workflow, history }];
  for await (const result of Worker.runReplayHistories(options, given)) results.push(result);
  assert.equal(results.length, 1);
  return results[0]!;
}

const lineOf = (text: string, part: string) =>
  text.split("\n").findIndex((line) => line.includes(part)) + 1;

const brief = ({ changedValues = [] }: Pick<ReplayResult, "changedValues">) =>
  changedValues.map(({ site, differences }) => ({
    line: Number(/(?:main|program\d+)\.ts:(\d+):/.exec(site)?.[1]),
    changes: differences.map(({ path, history, code }) => `${path}: ${history} -> ${code}`),
  }));

const temporalEdits = EDITS.filter(({ workflow }) => workflow !== "Native");

test("forty edits of values are reported with line and both values", async () => {
  assert.ok(temporalEdits.length >= 40, String(temporalEdits.length));
  const editions = temporalEdits.map(({ workflow, from, to }) => ({
    workflow,
    text: PROGRAM.replace(from, to),
  }));
  const { workflows, sources } = editionSources(editions);
  for (const [path, text] of Object.entries(sources)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const given = editions.map(({ workflow }, n) => ({
    workflowId: workflow,
    history: History.decode(ofType(histories[workflow]!, typeOf(workflow, n))),
  }));
  const results: ReplayResult[] = [];
  const options = { workflowsPath: join(folder, workflows), values: "warn" } as const;
  for await (const result of Worker.runReplayHistories(options, given)) results.push(result);
  assert.equal(results.length, temporalEdits.length);
  for (const [n, { from, to, line = from, changes }] of temporalEdits.entries()) {
    const result = results[n]!;
    assert.equal(result.error, undefined, `${to}: ${result.error?.message}`);
    const at = lineOf(editions[n]!.text, line === from ? to : line);
    assert.deepEqual(brief(result), [{ line: at, changes }], to);
    assert.match(result.changedValues![0]!.site, new RegExp(`/e${n}/main\\.ts:`));
  }
});

test("without the option nothing is compared; a rule leaves a value out", async () => {
  const edited = PROGRAM.replace("cents: 1200", "cents: 1300");
  const plain = await replay("Order", edited);
  assert.equal("changedValues" in plain || "uncomparedValues" in plain, false);
  assert.equal(plain.error, undefined);
  const ignored = await replay("Order", edited, { ignore: [{ path: "**.cents" }] });
  assert.deepEqual([ignored.changedValues, ignored.error], [[], undefined]);
});

test('"warn" logs changed values; "error" fails the replay with a ChangedValuesError', async () => {
  const edited = PROGRAM.replace("cents: 1200", "cents: 1300");
  logged.length = 0;
  await replay("Order", edited, "warn");
  const warning = logged.find((message) => message.includes("replays with other values"));
  assert.match(
    warning ?? "",
    /^Order Order replays with other values:\nchanged value \(event \d+, /,
  );
  assert.match(warning!, /The code now has input\[0\]\.cents 1300; the history has 1200\./);
  for (const values of ["error", { level: "error" }] as const) {
    const { error, changedValues } = await replay("Order", edited, values);
    assert.ok(error instanceof ChangedValuesError && error instanceof ReplayError);
    assert.match(error.message, /input\[0\]\.cents 1300; the history has 1200\.\nat Order \(.*ts:/);
    assert.deepEqual(error.changedValues, changedValues);
    assert.equal(changedValues!.length, 1);
  }
  const workflowsPath = fileOf(edited);
  const history = History.decode(histories["Order"]!);
  await Worker.runReplayHistory({ workflowsPath, values: "warn" }, history, "Order");
  await assert.rejects(
    Worker.runReplayHistory({ workflowsPath, values: "error" }, history, "Order"),
    { name: "ChangedValuesError" },
  );
  // A divergence is the error, also where values changed before it.
  const diverging = edited.replace("wf.upsertMemo(", "await wf.sleep(1); wf.upsertMemo(");
  const both = await replay("Order", diverging, "error");
  assert.equal(both.error?.name, "DeterminismViolationError");
  assert.equal(both.changedValues!.length, 1);
});

test("an invalid option is rejected with its name", async () => {
  const cases: readonly (readonly [values: unknown, message: RegExp])[] = [
    ["fail", /^ReplayWorkerOptions\.values is "fail"; expected "warn" or "error"$/],
    [true, /^ReplayWorkerOptions\.values is true; expected "warn", "error" or an object$/],
    [
      { mode: "warn" },
      /^unknown option ReplayWorkerOptions\.values\.mode; expected level or ignore/,
    ],
    [{ level: 1 }, /^ReplayWorkerOptions\.values\.level is 1; expected "warn" or "error"$/],
    [{ ignore: [{ path: "x" }] }, /^ignore\[0\]: path begins with "x"; expected input/],
  ];
  for (const [values, message] of cases) {
    await assert.rejects(replay("Renewal", PROGRAM, values as never), { message });
  }
  await assert.rejects(
    Worker.create({ taskQueue: "q", workflowsPath: "x", values: "warn" } as never),
    /unknown option WorkerOptions\.values/,
  );
});

const root = corpusRoot();
test(
  "unchanged code has no changed values in 60 replays of histories of the official SDK",
  {
    skip: root === undefined
      ? "the corpus ../shared/fixtures/compat is not next to this checkout"
      : false,
  },
  async () => {
    let replays = 0;
    // Every third program: gate_values.test.ts replays all of them.
    const programs = [...unchangedPrograms(root!)].filter((_, i) => i % 3 === 0);
    for (const { name, workflows, histories } of programs) {
      const given = await Promise.all(histories.map(async ({ json }) => {
        const { workflowId, bytes } = await readHistoryFile(json);
        return { workflowId, history: History.decode(bytes) };
      }));
      const options = { workflowsPath: workflows, values: "error" } as const;
      for await (const result of Worker.runReplayHistories(options, given)) {
        assert.deepEqual([result.error, result.changedValues], [undefined, []], `${name}`);
        replays++;
      }
    }
    assert.ok(replays >= 60, `${replays} replays`);
  },
);
