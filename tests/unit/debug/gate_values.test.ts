// runtime: node
// Replays with the option `values`: forty edits of values that no replay compares, each reported at
// the line of its command; rules that leave values out; values that cannot be decoded.
// takes: 12 s
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { readHistoryFile, type ValueRule } from "../../../ts/debug/mod.ts";
import { createWorkerRealm, type ReplayVerdict } from "../../../ts/realm/mod.ts";
import { corpusRoot, unchangedPrograms } from "../compat/support/corpus.ts";
import { EDITS, PROGRAM } from "./value_edits.ts";
import { EDITED_SOURCES, recordEditHistories } from "./recorded_edits.ts";
import { editionSources, ofType, typeOf } from "./editions.ts";

let histories: Awaited<ReturnType<typeof recordEditHistories>>;
before(async () => histories = await recordEditHistories());

// With a namespace, "" in the code is a value like others.
const runOptions = { namespace: "default" };
/** By their text: what is replayed in one realm does not change it. */
const realms = new Map<string, ReturnType<typeof createWorkerRealm>>();
after(async () => {
  for (const realm of realms.values()) await (await realm).dispose();
});

async function replay(
  workflow: string,
  text = EDITED_SOURCES[workflow]!,
  ignore: readonly ValueRule[] = [],
  history = histories[workflow]!,
): Promise<ReplayVerdict> {
  const options = { cacheSize: 0, workflows: "/app/main.ts", sources: { "/app/main.ts": text } };
  const known = realms.get(text) ?? createWorkerRealm({ ...options, runOptions });
  realms.set(text, known);
  return await (await known).replay(workflow, history, { values: { ignore } });
}

const lineOf = (text: string, part: string) =>
  text.split("\n").findIndex((line) => line.includes(part)) + 1;

const brief = ({ changedValues = [] }: ReplayVerdict) =>
  changedValues.map(({ site, differences }) => ({
    line: Number(/main\.ts:(\d+):/.exec(site)?.[1]),
    changes: differences.map(({ path, history, code }) => `${path}: ${history} -> ${code}`),
  }));

test("forty edits of values are reported with the line of the command and both values", async () => {
  assert.ok(EDITS.length >= 40, String(EDITS.length));
  for (const native of [false, true]) {
    const edits = EDITS.filter(({ workflow }) => (workflow === "Native") === native);
    const editions = edits.map(({ workflow, from, to }) => {
      const source = EDITED_SOURCES[workflow]!;
      assert.equal(source.split(from).length, 2, `${from} is in the source once`);
      return { workflow, text: source.replace(from, to) };
    });
    const sources = editionSources(editions);
    const realm = await createWorkerRealm({ cacheSize: 0, ...sources, runOptions });
    try {
      for (const [n, { workflow, from, to, line = from, changes }] of edits.entries()) {
        const history = ofType(histories[workflow]!, typeOf(workflow, n));
        const verdict = await realm.replay(workflow, history, { values: true });
        assert.equal(verdict.verdict, "ok", `${to}: ${verdict.error?.message}`);
        // A line with the edited text itself is found in the edited source.
        const at = lineOf(editions[n]!.text, line === from ? to : line);
        assert.deepEqual(brief(verdict), [{ line: at, changes }], to);
        assert.match(verdict.changedValues![0]!.site, new RegExp(`/app/e${n}/main\\.ts:`));
        assert.equal(verdict.recorded, undefined);
        assert.equal(verdict.trace, undefined);
      }
    } finally {
      await realm.dispose();
    }
  }
});

test("unchanged code has no changed values, and without the option nothing is compared", async () => {
  for (const workflow of Object.keys(EDITED_SOURCES)) {
    const { verdict, changedValues, uncomparedValues } = await replay(workflow);
    assert.deepEqual([verdict, changedValues, uncomparedValues], ["ok", [], []], workflow);
  }
  const realm = await createWorkerRealm({
    ...{ cacheSize: 0, workflows: "/app/main.ts" },
    sources: { "/app/main.ts": PROGRAM.replace("cents: 1200", "cents: 1300") },
  });
  try {
    const plain = await realm.replay("Order", histories["Order"]!);
    assert.equal("changedValues" in plain, false);
    const on = await realm.replay("Order", histories["Order"]!, { values: true, record: true });
    assert.equal(on.changedValues!.length, 1);
    assert.ok(on.recorded!.length > 0);
  } finally {
    await realm.dispose();
  }
});

test("rules leave values out by workflow, command, type and path", async () => {
  const edited = PROGRAM.replace("cents: 1200", "cents: 1300").replace('"30 days"', '"29 days"')
    .replace('lines: ["a", "b"]', 'lines: ["a", "c"]');
  const all = ["input[0].cents", "input[0].lines[1]", "duration"];
  const cases: readonly (readonly [rule: ValueRule, left: readonly string[]])[] = [
    [{ path: "input[0].cents" }, ["input[0].lines[1]", "duration"]],
    [{ path: "input[0]" }, ["duration"]],
    [{ path: "input[*].lines[*]" }, ["input[0].cents", "duration"]],
    [{ path: "**.cents" }, ["input[0].lines[1]", "duration"]],
    [{ path: "**" }, []],
    [{ path: '["input"][0]' }, ["duration"]],
    [{ path: "**.other" }, all],
    [{ path: "input[1]" }, all],
    [{ command: "timer", path: "**" }, ["input[0].cents", "input[0].lines[1]"]],
    [{ command: "child", path: "**" }, all],
    [{ type: "charge", path: "**" }, ["duration"]],
    [{ type: "ch*e", path: "**" }, ["duration"]],
    [{ type: "char", path: "**" }, all],
    [{ workflow: "Ord*", path: "**" }, []],
    [{ workflow: "Other", path: "**" }, all],
  ];
  for (const [rule, left] of cases) {
    const { changedValues = [] } = await replay("Order", edited, [rule]);
    const paths = changedValues.flatMap(({ differences }) => differences.map(({ path }) => path));
    assert.deepEqual(paths.toSorted(), left.toSorted(), JSON.stringify(rule));
  }
});

test("an invalid rule is rejected with its index and name", async () => {
  const cases: readonly (readonly [ignore: unknown, message: RegExp])[] = [
    [{}, /^ignore is \{\}; expected a list of rules$/],
    [["x"], /^ignore\[0\]: expected an object with a path, not "x"$/],
    [[{ path: "input" }, { name: "ids" }], /^ignore\[1\] "ids": path is missing/],
    [
      [{ name: "ids", path: "inputs[0]" }],
      /^ignore\[0\] "ids": path begins with "inputs"; expected inp/,
    ],
    [
      [{ path: "input[" }],
      /^ignore\[0\]: path "input\[" is invalid at character 6; expected the form/,
    ],
    [[{ path: "input..a" }], /^ignore\[0\]: path "input\.\.a" is invalid at character 6/],
    [[{ path: "input.[0]" }], /^ignore\[0\]: path "input\.\[0\]" is invalid at character 6/],
    [[{ path: "" }], /^ignore\[0\]: path is ""; expected a non-empty string$/],
    [
      [{ path: "**", command: "timers" }],
      /^ignore\[0\]: command is "timers"; expected activity, timer/,
    ],
    [
      [{ path: "**", kind: "x" }],
      /^ignore\[0\]: unknown field "kind"; expected name, workflow, comm/,
    ],
    [[{ path: "**", type: 3 }], /^ignore\[0\]: type is 3; expected a non-empty string$/],
  ];
  for (const [ignore, message] of cases) {
    await assert.rejects(
      replay("Renewal", undefined, ignore as never),
      { name: "ValueRulesError", message },
      JSON.stringify(ignore),
    );
  }
});

test("values of a missing codec are not compared and are named", async () => {
  const history = fromBinary(HistorySchema, histories["Order"]!);
  for (const { attributes } of history.events) {
    if (attributes.case !== "activityTaskScheduledEventAttributes") continue;
    for (const payload of attributes.value.input!.payloads) {
      payload.metadata["encoding"] = new TextEncoder().encode("binary/encrypted");
      payload.data = payload.data.map((byte) => byte ^ 0x55);
    }
  }
  const encrypted = toBinary(HistorySchema, create(HistorySchema, history));
  const { changedValues, uncomparedValues } = await replay("Order", PROGRAM, [], encrypted);
  assert.deepEqual(changedValues, []);
  assert.deepEqual(
    uncomparedValues!.map(({ path, encoding }) => `${path} ${encoding}`),
    [0, 1, 0, 1, 2, 3].map((i) => `input[${i}] binary/encrypted`),
  );
});

const root = corpusRoot();
test(
  "unchanged code has no changed values in 200 replays of histories of the official SDK",
  {
    skip: root === undefined
      ? "the corpus ../shared/fixtures/compat is not next to this checkout"
      : false,
  },
  async () => {
    let replays = 0;
    for (const { workflows, histories } of unchangedPrograms(root!)) {
      const realm = await createWorkerRealm({
        ...{ cacheSize: 0, workflows },
        scopes: "asyncLocalStorage",
        runOptions: { namespace: "default" },
      });
      try {
        for (const { of, json } of histories) {
          const { workflowId, bytes } = await readHistoryFile(json);
          const { changedValues } = await realm.replay(workflowId, bytes, { values: true });
          assert.deepEqual(changedValues, [], of);
          replays++;
        }
      } finally {
        await realm.dispose();
      }
    }
    assert.ok(replays >= 200, `${replays} replays`);
  },
);
