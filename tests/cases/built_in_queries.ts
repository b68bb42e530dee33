// The queries that Temporal's tools send to every workflow: where its code waits, and what it is.
// Promise P9 holds for their results, too: they are the same whether a run is in memory, was
// evicted, or is closed.
import {
  activities,
  noreply,
  on,
  parallel,
  query,
  receive,
  reply,
  setCurrentDetails,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  waitForSignal,
  workflow,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, match, ok, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive } from "./driver.ts";

const acts = activities<{ charge(amount: number): string }>();
const pay = update<[number], string>("pay", { description: "Takes a payment." });
const later = update("later");
const note = signal<[string]>("note", { description: "Notes it." });
const finish = signal("finish");
const approval = signal<[string]>("approval");

async function nap(): Promise<void> {
  await sleep(10);
  await sleep(1000);
}

const waiting = workflow("Waiting", {
  messages: {
    pay,
    later,
    note,
    approval,
    notes: query<number>("notes", { description: "How many." }),
  },
  queries: { notes: () => 1 },
  async run() {
    setCurrentDetails("open");
    const left = await receive(0, [
      on(note, (_, count) => noreply(count + 1)),
      on(finish, (_, count) => stop(count)),
      on(later, (_, count) => spawnAsync(async () => await nap(), count)),
      on(pay, async ([amount], count) => reply(await acts.charge(amount), count)),
    ], { timeout: 60_000 });
    setCurrentDetails(`closing after ${left.state}`);
    await parallel([
      async () => await nap(),
      () => Promise.all([1, 2, 3].map((each) => acts.charge(each))),
      async () => void await waitForSignal(approval),
    ]);
  },
});

/** The text without places, which differ between runtimes. */
const heads = (text: unknown): string[] =>
  String(text).split("\n\n").map((block) => block.split("\n")[0]!).filter((head) => head !== "");

async function stack(d: Drive): Promise<string> {
  const { ok: succeeded, value, message } = await d.query("__stack_trace");
  ok(succeeded, message);
  return value as string;
}

/** One that waits in a handler, in an async handler and in its receive. */
async function busy(): Promise<Drive> {
  const d = await drive(waiting);
  await d.task();
  d.server.update("u1", "later");
  await d.task();
  d.server.fireTimer([...d.server.timers.keys()][1]!);
  d.server.update("u2", "pay", 5);
  await d.task();
  equal(d.server.taskFailure, undefined);
  return d;
}

const BUSY = [
  'run of workflow "Waiting": receive',
  'handler of update "pay": activity "charge"',
  'async handler of update "later": sleep',
];

export const cases: Case[] = [
  {
    name: "__stack_trace shows every pending wait by handler and line, cached or replayed",
    async run() {
      const d = await busy();
      const text = await stack(d);
      deepEqual(heads(text).sort(), [...BUSY].sort());
      const frames = text.split("\n").filter((line) => line.startsWith("    at "));
      ok(frames.length >= 3, text);
      // Nothing of this package's frames; bundles (Chromium) have one file for all.
      for (const frame of frames) match(frame, /:\d+:\d+\)?$/);
      ok(!/executor\/|workflow\/(?:waiting|receive)\.[jt]s/.test(text), text);
      deepEqual(d.parts.runner.cachedRunIds, [d.server.runId]);
      d.parts.runner.evict(d.server.runId);
      equal(await stack(d), text);
      deepEqual(d.parts.runner.cachedRunIds, [], "asking did not bring it back");
      // The query does not affect the run.
      d.server.completeActivity("1", "paid");
      await d.task();
      equal(d.server.taskFailure, undefined);
      deepEqual(heads(await stack(d)).sort(), [BUSY[0]!, BUSY[2]!].sort());
    },
  },
  {
    name: "__stack_trace does not change whether a run is cached",
    async run() {
      for (const cached of [true, false]) {
        const d = await drive(waiting, { cached });
        await d.task();
        await stack(d);
        equal(d.outcomes.at(-1)!.evict, !cached, `cached: ${cached}`);
        equal(d.parts.runner.cachedRunIds.length, cached ? 1 : 0);
      }
    },
  },
  {
    name: "__stack_trace of a run whose history cannot be fetched is rejected with the reason",
    async run() {
      const d = await drive(waiting);
      await d.task();
      d.parts.runner.evict(d.server.runId);
      d.parts.history = () => Promise.reject(new Error("the network is down"));
      await d.query("__stack_trace").catch(() => {});
      const { error, evict } = d.outcomes.at(-1)!;
      equal(error?.message, "the network is down");
      equal(evict, true, "nothing of it stays in memory");
    },
  },
  {
    name: "__stack_trace: an updateState that waits for a handler that runs",
    async run() {
      const add = signal("add");
      const w = workflow("Adds", () =>
        receive(0, [
          on(add, (_, s) =>
            spawnAsync((change) =>
              sleep(1).then(() => change((n) => [undefined, n + 1])), s)),
          on(note, async (_, s) => (await sleep(60_000), noreply(s))),
        ]));
      const d = await drive(w);
      d.server.signal("add");
      d.server.signal("note", "slow");
      await d.task();
      d.server.fireTimer("1");
      await d.task();
      equal(d.server.taskFailure, undefined);
      deepEqual(heads(await stack(d)).sort(), [
        'async handler of signal "add": updateState',
        'handler of signal "note": sleep',
        'run of workflow "Adds": receive',
      ]);
    },
  },
  {
    name: "__stack_trace shows branches, counts equal lines, and is empty after the end",
    async run() {
      const d = await drive(waiting);
      await d.task();
      d.server.signal("finish");
      await d.task();
      deepEqual(heads(await stack(d)).sort(), [
        'branch 1 of parallel in run of workflow "Waiting": sleep',
        'branch 2 of parallel in run of workflow "Waiting": activity "charge" (3 times)',
        'branch 3 of parallel in run of workflow "Waiting": waitForSignal "approval"',
        'run of workflow "Waiting": parallel',
      ]);
      const closed = await drive(workflow("Quick", () => Promise.resolve(1)));
      await closed.task();
      equal(await stack(closed), "");
      deepEqual((await closed.query("__enhanced_stack_trace")).value, {
        sdk: { name: "temporalex-ts", version: "0.0.0-test" },
        sources: {},
        stacks: [],
      });
    },
  },
  {
    name: "__enhanced_stack_trace: the same places as data, without sources",
    async run() {
      const d = await busy();
      const { value } = await d.query("__enhanced_stack_trace");
      const { sources, stacks } = value as {
        sources: unknown;
        stacks: {
          locations: { file_path: string; line: number; column: number; internal_code: boolean }[];
        }[];
      };
      deepEqual(sources, {});
      equal(stacks.length, 3);
      for (const { locations } of stacks) {
        for (const { file_path, line, column, internal_code } of locations) {
          ok(
            file_path !== "" && line > 0 && column > 0 && internal_code === false,
            JSON.stringify(locations),
          );
          ok(!file_path.startsWith("file:"), file_path);
        }
      }
    },
  },
  {
    name:
      "stacks that are requested with a workflow task are those after the task, and the run continues",
    async run() {
      for (const cached of [true, false]) {
        const d = await drive(waiting, { cached });
        await d.task();
        d.server.update("u1", "pay", 5);
        await d.task({
          queries: { a: { type: "__stack_trace", args: [] }, b: { type: "notes", args: [] } },
        });
        equal(d.server.taskFailure, undefined);
        const { a, b } = d.server.queryAnswers;
        deepEqual(heads(a!.value).sort(), [BUSY[0]!, BUSY[1]!].sort(), a!.message);
        ok(String(a!.value).includes("\n    at "), "with lines");
        equal(b!.value, 1);
        d.server.completeActivity("1", "paid");
        d.server.signal("finish");
        await d.task({ queries: { c: { type: "__enhanced_stack_trace", args: [] } } });
        equal(d.server.taskFailure, undefined);
        equal((d.server.queryAnswers["c"]!.value as { stacks: unknown[] }).stacks.length, 4);
      }
    },
  },
  {
    name:
      "__temporal_workflow_metadata: type, messages that are declared or taken now, descriptions, current details",
    async run() {
      const d = await drive(waiting);
      await d.task();
      const metadata = async () =>
        (await d.query("__temporal_workflow_metadata")).value as {
          definition: { [kind: string]: { name: string; description?: string }[] };
          currentDetails: string;
        };
      const { definition, currentDetails } = await metadata();
      equal(currentDetails, "open");
      const { queryDefinitions, ...others } = definition;
      deepEqual(others, {
        type: "Waiting",
        signalDefinitions: [{ name: "approval" }, { name: "finish" }, {
          name: "note",
          description: "Notes it.",
        }],
        updateDefinitions: [{ name: "later" }, { name: "pay", description: "Takes a payment." }],
      });
      deepEqual(queryDefinitions!.map(({ name }) => name), [
        "__enhanced_stack_trace",
        "__stack_trace",
        "__temporal_workflow_metadata",
        "notes",
      ]);
      equal(queryDefinitions!.at(-1)!.description, "How many.");
      d.server.signal("finish");
      await d.task();
      d.parts.runner.evict(d.server.runId);
      equal((await metadata()).currentDetails, "closing after 0");
      deepEqual((await metadata()).definition["signalDefinitions"]!.map(({ name }) => name), [
        "approval",
        "note",
      ]);
    },
  },
  {
    name: "reserved names of Temporal are rejected at the definition",
    run() {
      for (const name of ["__stack_trace", "__enhanced_stack_trace", "__temporal_anything"]) {
        throws(() => signal(name), /cannot be named "__\w+": Temporal reserves/);
        throws(() => update(name), /cannot be named/);
        throws(() => query(name), /cannot be named/);
        throws(
          () => workflow("W", { queries: { [name]: () => 1 }, run: () => Promise.resolve() }),
          /has a handler for the query/,
        );
      }
    },
  },
  {
    name: "setCurrentDetails with a value other than a string fails the task",
    async run() {
      const d = await drive(workflow("W", () => {
        setCurrentDetails(7 as unknown as string);
        return Promise.resolve();
      }));
      await d.task();
      match(d.server.taskFailure?.failure.message ?? "", /needs a string, not a number/);
    },
  },
];
