// runtime: node
// What the code gives otherwise than history has it, where no replay looks: named with event, line
// and both values. Unchanged code has no such value, on any history that was recorded here or by
// the official SDK against a server.
// takes: 12 s
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { HistorySchema } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { type ChangedValue, openSession, readHistoryFile, redact } from "../../../ts/debug/mod.ts";
import { createWorkerRealm, type WorkerRealmOptions } from "../../../ts/realm/mod.ts";
import { TestEnvironment } from "../../../ts/testing/mod.ts";
import {
  caseNames,
  corpusRoot,
  historyOf,
  loadCase,
  loadRows,
  NO_CASES,
} from "../compat/support/corpus.ts";
import { editionSources, ofType, typeOf } from "./editions.ts";

const PROGRAM = `import * as wf from "@temporalio/workflow";
const acts = wf.proxyActivities({
  startToCloseTimeout: "10s",
  heartbeatTimeout: "5s",
  retry: { maximumAttempts: 5, initialInterval: "2s", nonRetryableErrorTypes: ["Declined"] },
});
const plain = wf.proxyActivities({ scheduleToCloseTimeout: "1m" });
const text = "x".repeat(200);
export async function Kid(x) {
  await wf.sleep("1 minute");
  return x;
}
export async function Main(who) {
  await wf.sleep("30 days");
  await acts.charge({ who, cents: 1200, lines: ["a", "b"] }, 1);
  await plain.note(text + "one");
  const kid = await wf.startChild(Kid, {
    workflowId: "kid",
    args: [[1, 2]],
    workflowRunTimeout: "1h",
    memo: { level: 1 },
    retry: { maximumAttempts: 2 },
  });
  await kid.signal("hi", 7);
  await kid.result();
  wf.upsertMemo({ stage: "packing", at: null });
  wf.upsertSearchAttributes({ CustomKeywordField: ["a"] });
  if (who === "again") await wf.continueAsNew("ada");
  await wf.condition(() => false, "2s");
  return { total: 1 };
}
`;

/**
 * A string of the program, its replacement, and the verdicts on the histories of "ada" and "again"
 * afterwards.
 */
const EDITS: readonly (readonly [
  from: string,
  to: string,
  said: readonly string[],
  ofAgain?: readonly string[],
])[] = [
  ['"30 days"', '"1s"', ["The duration in the code is 1 s; in history it is 30 d."]],
  ['startToCloseTimeout: "10s"', 'startToCloseTimeout: "20s"', [
    "The code now has start-to-close timeout 20 s; the history has 10 s.",
  ]],
  ['  heartbeatTimeout: "5s",\n', "", [
    "The code now has heartbeat timeout none; the history has 5 s.",
  ]],
  ["maximumAttempts: 5", "maximumAttempts: 3", [
    "The code now has maximum attempts 3; the history has 5.",
  ]],
  ['initialInterval: "2s"', 'initialInterval: "3s"', [
    "The code now has initial retry interval 3 s; the history has 2 s.",
  ]],
  ['["Declined"]', '["Declined", "Stolen"]', [
    "The code now has errors without a retry Declined, Stolen; the history has Declined.",
  ]],
  ['scheduleToCloseTimeout: "1m"', 'scheduleToCloseTimeout: "1m", taskQueue: "other"', [
    "The code now has task queue other; the history has QUEUE.",
  ]],
  ['scheduleToCloseTimeout: "1m"', 'scheduleToCloseTimeout: "2m"', [
    "The code now has schedule-to-close timeout 2 min; the history has 1 min.",
  ]],
  // A value set to what the server fills in is not a change.
  ['scheduleToCloseTimeout: "1m"', 'scheduleToCloseTimeout: "1m", startToCloseTimeout: "5m"', []],
  ["cents: 1200", "cents: 1300", ["The code now has input[0].cents 1300; the history has 1200."]],
  ['lines: ["a", "b"]', 'lines: ["a", "c"], note: "!"', [
    'The code now has input[0].lines[1] "c", input[0].note "!"; the history has "b", nothing.',
  ]],
  ["}, 1);", "}, 2);", ["The code now has input[1] 2; the history has 1."]],
  ['text + "one"', 'text + "two"', [
    'The code now has input …xxxxxxxxxxtwo"; the history has …xxxxxxxxxxone".',
  ]],
  ["[[1, 2]]", "[[1, 2, 3]]", ["The code now has input [1,2,3]; the history has [1,2]."]],
  ['workflowRunTimeout: "1h"', 'workflowRunTimeout: "2h"', [
    "The code now has workflow run timeout 2 h; the history has 1 h.",
  ]],
  ["level: 1", "level: 2", ["The code now has memo level 2; the history has 1."]],
  ["    retry: { maximumAttempts: 2 },\n", "", [
    "The code now has retry policy none; the history has one.",
  ]],
  ["memo: { level: 1 }", 'memo: { level: 1 }, parentClosePolicy: "ABANDON"', [
    "The code now has parent close policy abandon; the history has terminate.",
  ]],
  ['"hi", 7', '"hi", 8', ["The code now has input 8; the history has 7."]],
  ['"hi", 7', '"ho", 7', ["The code now has signal ho; the history has hi."]],
  ['"packing"', '"sent"', ['The code now has memo stage "sent"; the history has "packing".']],
  ['["a"] }', '["b"] }', [
    'The code now has search attribute CustomKeywordField[0] "b"; the history has "a".',
  ]],
  [
    'false, "2s"',
    'false, "2m"',
    ["The duration in the code is 2 min; in history it is 2 s."],
    [],
  ],
  ["total: 1", "total: 2", ["The code now has result.total 2; the history has 1."], []],
  ['wf.continueAsNew("ada")', 'wf.continueAsNew("bob")', [], [
    'The code now has input "bob"; the history has "ada".',
  ]],
  // Code that says the same in other words.
  ['"30 days"', "30 * 24 * 3_600_000", []],
  ["{ who, cents: 1200", "{ cents: 1200, who", []],
];

let folder: string;
const histories: { [who: string]: Uint8Array } = {};

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "changed-values-"));
  const file = join(folder, "main.ts");
  writeFileSync(file, PROGRAM);
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const env = await TestEnvironment.create({ logger: silent });
  try {
    const activities = { charge: () => "charged", note: () => undefined };
    await env.runWorker(
      { workflows: pathToFileURL(file), activities, taskQueue: "QUEUE" },
      async () => {
        for (const who of ["ada", "again"]) {
          const handle = await env.client.start(
            "Main",
            { id: who, args: [who], taskQueue: "QUEUE" } as never,
          );
          await handle.result();
          const first = env.client.getHandle(undefined, who, handle.runId);
          const json = await first.historyJson();
          histories[who] = (await readHistoryFile(new TextEncoder().encode(json))).bytes;
        }
      },
    );
  } finally {
    await env.dispose();
  }
});
after(() => rmSync(folder, { recursive: true, force: true }));

interface Found {
  readonly verdict: string;
  readonly changed: readonly ChangedValue[];
}

/** Of each history with the same code. */
async function changedIn(
  all: readonly Uint8Array[],
  options: Partial<WorkerRealmOptions>,
): Promise<Found[]> {
  const realm = await createWorkerRealm({ cacheSize: 0, ...options });
  try {
    const found: Found[] = [];
    for (const history of all) {
      const session = await openSession(history, { realm });
      found.push({ verdict: session.verdict, changed: session.changedValues });
    }
    return found;
  } finally {
    await realm.dispose();
  }
}

const changedBy = async (
  history: Uint8Array,
  options: Partial<WorkerRealmOptions>,
): Promise<Found> => (await changedIn([history], options))[0]!;

const ofText = (text: string) => ({ workflows: "/app/main.ts", sources: { "/app/main.ts": text } });

test("changed values that replay does not compare are reported", async () => {
  const editions = EDITS.map(([from, to]) => {
    assert.ok(PROGRAM.includes(from), from);
    return { workflow: "Main", text: PROGRAM.replace(from, to) };
  });
  const all = editions.flatMap((_, n) =>
    ["ada", "again"].map((who) => ofType(histories[who]!, typeOf("Main", n)))
  );
  const found = await changedIn(all, editionSources(editions));
  const sentences = found.map((
    { verdict, changed },
  ) => [verdict, ...changed.map(({ sentence }) => sentence)]);
  for (const [n, [, to, said, ofAgain = said]] of EDITS.entries()) {
    const [ada, again] = sentences.slice(2 * n);
    assert.deepEqual([ada, again], [["ok", ...said], ["ok", ...ofAgain]], to);
  }
});

test("the report names event, line, task and both values; the verdict stays ok", async () => {
  const { changed: [found, ...rest] } = await changedBy(
    histories["ada"]!,
    ofText(PROGRAM.replace('"30 days"', '"1s"')),
  );
  assert.deepEqual(rest, []);
  const { events } = fromBinary(HistorySchema, histories["ada"]!);
  const line = PROGRAM.split("\n").findIndex((text) => text.includes("30 days")) + 1;
  assert.equal(
    Number(
      events.find(({ attributes }) => attributes.case === "timerStartedEventAttributes")!.eventId,
    ),
    found!.eventId,
  );
  assert.ok(found!.startedEventId < found!.eventId);
  assert.match(found!.site, new RegExp(`main\\.ts:${line}:`));
  assert.equal(found!.step, "a timer of 30 d");
  assert.deepEqual(found!.differences, [{
    field: "duration",
    history: "30 d",
    code: "1 s",
    counts: false,
    path: "duration",
  }]);
});

test("a timer is due at the time in history, whatever the current code requests", async () => {
  const realm = await createWorkerRealm({
    cacheSize: 0,
    ...ofText(PROGRAM.replace('"30 days"', '"1s"')),
  });
  try {
    const session = await openSession(histories["ada"]!, { realm });
    const { eventId, timeMs } = session.events.find(({ type }) => type === "TimerStarted")!;
    const [sleeping] = session.viewAt(eventId).open;
    assert.equal(Math.round((sleeping!.firesAtMs! - timeMs!) / 86_400_000), 30);
  } finally {
    await realm.dispose();
  }
});

test("at a divergence, changed values before it are reported and later ones are not", async () => {
  const text = PROGRAM.replace('"30 days"', '"1s"').replace("plain.note(", "plain.write(").replace(
    'false, "2s"',
    'false, "3s"',
  );
  const { verdict, changed } = await changedBy(histories["ada"]!, ofText(text));
  assert.equal(verdict, "nondeterminism");
  assert.deepEqual(changed.map(({ sentence }) => sentence), [
    "The duration in the code is 1 s; in history it is 30 d.",
  ]);
});

test("values that cannot be decoded are not compared", async () => {
  const history = fromBinary(HistorySchema, histories["ada"]!);
  for (const { attributes } of history.events) {
    if (attributes.case !== "activityTaskScheduledEventAttributes") continue;
    for (const payload of attributes.value.input!.payloads) {
      payload.metadata["encoding"] = new TextEncoder().encode("binary/encrypted");
      payload.data = payload.data.map((byte) => byte ^ 0x55);
    }
  }
  const bytes = toBinary(HistorySchema, create(HistorySchema, history));
  assert.deepEqual(await changedBy(bytes, ofText(PROGRAM)), { verdict: "ok", changed: [] });
});

test("in a redacted history, texts are not compared but durations are", async () => {
  for (const rules of [undefined, [{ key: /stage/ }]]) {
    const { history } = await redact(
      histories["ada"]!,
      rules === undefined ? { numbers: true } : { rules },
    );
    assert.ok(!new TextDecoder().decode(history).includes("packing"));
    assert.deepEqual(await changedBy(history!, ofText(PROGRAM)), { verdict: "ok", changed: [] });
    const { changed } = await changedBy(history!, ofText(PROGRAM.replace('"30 days"', '"1s"')));
    assert.deepEqual(changed.map(({ sentence }) => sentence), [
      "The duration in the code is 1 s; in history it is 30 d.",
    ]);
  }
});

test("unchanged code has no changed values on histories recorded here", async () => {
  const own = (name: string) =>
    fileURLToPath(
      new URL(
        `../../../${import.meta.url.includes("/dist/") ? "../" : ""}${name}`,
        import.meta.url,
      ),
    );
  const unchanged = await changedIn([histories["ada"]!, histories["again"]!], ofText(PROGRAM));
  assert.deepEqual(unchanged.map(({ changed }) => changed), [[], []]);
  for (
    const name of [
      "callbacks",
      "cancelled",
      "determined",
      "interleaved",
      "iterated",
      "local",
      "messages",
      "nexus",
    ]
  ) {
    const history = readFileSync(own(`tests/unit/compat/histories/${name}.json`));
    const { verdict, changed } = await changedBy(history, {
      workflows: pathToFileURL(own(`tests/unit/compat/programs/${name}.ts`)),
    });
    assert.deepEqual([verdict, changed], ["ok", []], name);
  }
  for (
    const [name, sample] of [
      ...[
        "batch_process",
        "counter",
        "event_collector",
        "inventory",
        "onboarding",
        "order_processing",
        "shopping_cart",
      ].map((
        name,
      ) => [name, name] as const),
      ["shopping_cart", "shopping_cart_open"],
    ] as const
  ) {
    const history = readFileSync(own(`web-demo/samples/${sample}.json`));
    const { verdict, changed } = await changedBy(history, {
      workflows: pathToFileURL(own(`examples/${name}/workflow.ts`)),
    });
    assert.deepEqual([verdict, changed], ["ok", []], sample);
  }
});

function groupBy<T>(all: readonly T[], keyOf: (one: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) groups.set(keyOf(one), [...groups.get(keyOf(one)) ?? [], one]);
  return groups;
}

const root = corpusRoot();
const skip = root === undefined
  ? "the corpus ../shared/fixtures/compat is not next to this checkout"
  : false;
for (const name of root === undefined ? [NO_CASES] : caseNames(root)) {
  test(
    `unchanged code on what the official SDK has recorded: nothing is named: ${name}`,
    { skip },
    async () => {
      const found = loadCase(root!, name);
      const rows = loadRows(root!).filter((row) =>
        row.case === name && row.verdict === "OK" && row.cutAt === undefined
      );
      const own = rows.filter((row) =>
        row.variant === (found.recordedWith?.[row.history.split(".")[0]!] ?? "base")
      );
      assert.ok(own.length > 0, "it has such rows");
      const files = groupBy(own, ({ variant }) => found.variants[variant]!.file);
      for (const [file, rowsOf] of files) {
        const changed = await changedIn(
          rowsOf.map((row) =>
            new TextEncoder().encode(JSON.stringify(historyOf(root!, found, row)))
          ),
          { workflows: join(root!, "workflows", file), scopes: "asyncLocalStorage" },
        );
        for (const [n, { verdict, changed: values }] of changed.entries()) {
          const named = values.map(({ eventId, sentence }) => `${eventId}: ${sentence}`);
          assert.deepEqual([verdict, named], ["ok", []], rowsOf[n]!.history);
        }
      }
    },
  );
}
