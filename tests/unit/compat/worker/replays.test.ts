// `Worker.runReplayHistories` on decoded histories: each replay judges a history as it is at that
// moment, also after changes.
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { inspect } from "node:util";
import threads from "node:worker_threads";
import { historyFromJSON } from "../../../../ts/compat/common/proto_utils.ts";
import { temporal } from "../../../../ts/compat/proto/mod.ts";
import { DefaultLogger, Runtime, Worker } from "../../../../ts/compat/worker/mod.ts";
import { folderWith } from "./support.ts";

const { History } = temporal.api.history.v1;
const packageRoot = fileURLToPath(new URL(import.meta.url)).split(
  /[\\/](?:dist[\\/])?tests[\\/]/,
)[0]!;
const workflowsPath = `${packageRoot}/tests/unit/compat/programs/timeouts.ts`;
const json = JSON.parse(
  readFileSync(`${packageRoot}/tests/unit/compat/histories/timeouts.json`, "utf8"),
);
const decoded = () => History.decode(History.encode(historyFromJSON(json)).finish());
Runtime.install({ logger: new DefaultLogger("ERROR", () => {}) });

/** Attributes of the first event that has these. */
// deno-lint-ignore no-explicit-any
const attributesIn = (history: any, name: string): any =>
  // deno-lint-ignore no-explicit-any
  history.events.find((event: any) => event[name] !== null)[name];

type Change = (history: ReturnType<typeof decoded>) => () => void;

// deno-lint-ignore no-explicit-any
const without = (events: readonly any[], name: string): unknown[] =>
  events.filter((event) => event[name] === null || event[name] === undefined);

/** Changes of a history whose events have not been read; each removes the timer that the code starts. */
const REPLACEMENTS: { readonly [what: string]: (history: ReturnType<typeof decoded>) => void } = {
  "assigned events": (history) =>
    history.events = without(decoded().events, "timerStartedEventAttributes"),
  "redefined events": (history) =>
    Object.defineProperty(history, "events", {
      value: without(decoded().events, "timerStartedEventAttributes"),
    }),
  "events of a frozen history": (history) => {
    const { events } = Object.freeze(history);
    events.splice(0, events.length, ...without(events, "timerStartedEventAttributes"));
  },
};

/** Changes that the code of the history does not match; each returns a function that reverts it. */
const CHANGES: { readonly [what: string]: Change } = {
  "a text in attributes": (history) => {
    const type = attributesIn(history, "activityTaskScheduledEventAttributes").activityType;
    const { name } = type;
    type.name = "another";
    return () => type.name = name;
  },
  "an added member of a oneof": (history) => {
    const event = history.events.find((each: { activityTaskScheduledEventAttributes: unknown }) =>
      each.activityTaskScheduledEventAttributes !== null
    );
    event.timerStartedEventAttributes = { timerId: "1" };
    event.eventType = 17;
    const { activityTaskScheduledEventAttributes } = event;
    delete event.activityTaskScheduledEventAttributes;
    return () => {
      delete event.timerStartedEventAttributes;
      Object.assign(event, { eventType: 10, activityTaskScheduledEventAttributes });
    };
  },
};

test("a history is replayed as it is when its turn comes", async () => {
  const history = decoded();
  const expected: string[] = [];
  function* each() {
    yield { workflowId: "timeouts", history };
    for (const [what, change] of Object.entries(CHANGES)) {
      const revert = change(history);
      expected.push(what);
      yield { workflowId: "timeouts", history };
      revert();
      yield { workflowId: "timeouts", history };
    }
  }
  const verdicts: string[] = [];
  for await (const { error } of Worker.runReplayHistories({ workflowsPath }, each())) {
    verdicts.push(error?.name ?? "ok");
  }
  assert.equal(verdicts.length, 1 + 2 * expected.length);
  assert.equal(verdicts.shift(), "ok");
  verdicts.forEach((verdict, i) =>
    i % 2 === 1
      ? assert.equal(verdict, "ok", `${expected[i >> 1]} was reverted`)
      : assert.notEqual(verdict, "ok", expected[i >> 1])
  );
});

test("a history of JSON is replayed like a decoded one", async () => {
  await Worker.runReplayHistory({ workflowsPath }, json, "timeouts");
  await Worker.runReplayHistory({ workflowsPath }, decoded(), "timeouts");
  const changed = structuredClone(json);
  // deno-lint-ignore no-explicit-any
  changed.events.find((event: any) => event.activityTaskScheduledEventAttributes)
    .activityTaskScheduledEventAttributes
    .activityType = {
      name: "another",
    };
  await assert.rejects(Worker.runReplayHistory({ workflowsPath }, changed, "timeouts"), {
    name: "DeterminismViolationError",
  });
});

test("replaced events are replayed, not the decoded ones", async () => {
  const given = [decoded, () => historyFromJSON(json)].flatMap((make) =>
    Object.entries(REPLACEMENTS).map(([workflowId, change]) => {
      const history = make();
      change(history);
      return { workflowId, history };
    })
  );
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowsPath }, given)) {
    assert.notEqual(error, undefined, workflowId);
  }
});

test("a decoded history has its events as an own property", () => {
  const expected = decoded().events;
  assert.deepEqual(Object.keys(decoded()), ["events"]);
  assert.deepEqual({ ...decoded() }.events, expected);
  assert.deepEqual(JSON.parse(JSON.stringify(decoded())).events.length, expected.length);
  assert.match(inspect(decoded()), /events: \[\n/);
  const frozen = Object.freeze(decoded());
  assert.deepEqual(frozen.events, expected);
  assert.equal(frozen.events, frozen.events);
  assert.throws(() => frozen.events = [], TypeError);
  const bytes = History.encode(decoded()).finish();
  const owner = History.decode(bytes);
  bytes.fill(0xff); // the history does not depend on the caller's bytes
  assert.deepEqual(owner.events, expected);
  assert.throws(() => History.decode(Uint8Array.of(0x0a, 0x05, 0x08)), "truncated bytes");
  assert.deepEqual(History.decode(new Uint8Array(0)).events, []);
});

/** A run that sleeps once and completes. */
function sleptOnce() {
  const [started, scheduled, taskStarted, completed, timer, fired] = structuredClone(json.events);
  started.workflowExecutionStartedEventAttributes.workflowType.name = "remembers";
  const events = [
    started,
    scheduled,
    taskStarted,
    completed,
    timer,
    fired,
    { ...scheduled },
    { ...taskStarted, workflowTaskStartedEventAttributes: { scheduledEventId: "7" } },
    {
      ...completed,
      workflowTaskCompletedEventAttributes: { scheduledEventId: "7", startedEventId: "8" },
    },
    {
      ...completed,
      eventType: "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED",
      workflowTaskCompletedEventAttributes: undefined,
      workflowExecutionCompletedEventAttributes: { workflowTaskCompletedEventId: "9" },
    },
  ];
  return { events: events.map((event, i) => ({ ...event, eventId: String(i + 1) })) };
}

// Rewritten scopes lose a value of `enterWith` at the next await, and would miss the divergence.
test("a divergence that depends on enterWith is found", async (t) => {
  const program = (first: string) =>
    folderWith(t, {
      "workflows.ts": `
import { sleep } from "@temporalio/workflow";
declare const AsyncLocalStorage: typeof import("node:async_hooks").AsyncLocalStorage;
const order = new AsyncLocalStorage();
export async function remembers() {
  ${first}
  await sleep(5);
  if (order.getStore() !== undefined) await sleep(5);
}
`,
    }) + "/workflows.ts";
  await Worker.runReplayHistory({ workflowsPath: program("") }, sleptOnce(), "remembers");
  await assert.rejects(
    Worker.runReplayHistory(
      { workflowsPath: program('order.enterWith("o-1");') },
      sleptOnce(),
      "remembers",
    ),
    { name: "DeterminismViolationError" },
  );
});

test(
  "the second replay of a program starts no thread",
  { skip: "Deno" in globalThis },
  async (t) => {
    const folder = folderWith(t, { "program.ts": readFileSync(workflowsPath, "utf8") });
    const replay = () =>
      Worker.runReplayHistory({ workflowsPath: join(folder, "program.ts") }, decoded());
    await replay();
    const { Worker: Thread } = threads;
    let started = 0;
    Object.assign(threads, {
      Worker: class extends Thread {
        constructor(...given: ConstructorParameters<typeof Thread>) {
          super(...given);
          started++;
        }
      },
    });
    t.after(() => Object.assign(threads, { Worker: Thread }));
    await replay();
    await replay();
    assert.equal(started, 0);
  },
);

test("a replay uses the program as it is now", async (t) => {
  const text = readFileSync(workflowsPath, "utf8");
  const folder = folderWith(t, { "program.ts": text });
  const replay = () =>
    Worker.runReplayHistory({ workflowsPath: join(folder, "program.ts") }, decoded());
  await replay();
  writeFileSync(join(folder, "program.ts"), text.replaceAll("never", "other"));
  await replay();
  writeFileSync(join(folder, "program.ts"), text.replaceAll("cleared.again", "changed"));
  await assert.rejects(replay(), { name: "DeterminismViolationError" });
  writeFileSync(join(folder, "program.ts"), text);
  await replay();
});
