// Cancel requests and continue-as-new
// (docs/dev/semantics/messages.md#cancel-requests-are-carried-over-continue-as-new): a request that
// the code of the run has not seen is carried over continue-as-new, and comes right after the start
// of the next run. So it is never lost, and the outcome of the chain does not depend on how its
// events were grouped into tasks (P4, P9).
import {
  activities,
  cancelled,
  type CancelledFailure,
  continueAsNew,
  noreply,
  on,
  receive,
  shield,
  signal,
  sleep,
  stop,
  update,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import { ApplicationFailure } from "../../ts/converter/failures.ts";
import type { DefinitionShape } from "../../ts/executor/program/definition.ts";
import {
  BUFFERED_SIGNALS_HEADER,
  CANCEL_REQUEST_HEADER,
} from "../../ts/executor/scheduler/next_run_headers.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { type Drive, drive } from "./driver.ts";
import type { HeaderFields } from "./mini_server.ts";

const next = signal<[string]>("next");
const go = signal<[number]>("go");
const end = signal("end");
const ask = update<[number], number>("ask");
const waiting = activities<{ work(x: number): number }>({
  cancellationType: "waitCancellationCompleted",
});

const headersOf = (d: Drive): HeaderFields => d.server.closed!.next!.headers;
const nextRun = (
  w: DefinitionShape,
  d: Drive,
  args: readonly unknown[] = d.server.closed!.next!.args,
) =>
  drive(w, {
    args,
    headers: headersOf(d),
    runId: "99999999-2222-4333-8444-555555555555",
  });

/** Takes one signal per run, and says what it saw on the way. */
const loop = workflow("Loop", async (seen: string[]): Promise<unknown> => {
  try {
    const name = await waitForSignal(next);
    const all = [...seen, name];
    return name === "last" ? all : continueAsNew(all);
  } catch (e) {
    return [...seen, (e as Error).message];
  }
});

/** Waits in a shield, and checks for cancellation only now and then. */
const shielded = workflow(
  "Shielded",
  async (seen: string[]): Promise<unknown> => {
    const name = await shield(() => waitForSignal(next));
    const all = [...seen, name];
    if (name === "look" && cancelled()) return [...all, "cancelled"];
    return name === "last" ? all : continueAsNew(all);
  },
);

/** Messages, in order; "cancel" is a cancel request, what else there is a signal. */
type Message = string;

/**
 * Drives a chain of runs through messages. `cuts[i]`: a task ends after message i. `alone`: the
 * first task of a later run contains only the start. Returns how the last run ended.
 */
async function chain(
  w: DefinitionShape,
  messages: Message[],
  cuts: readonly boolean[],
  alone: boolean,
): Promise<unknown> {
  let d = await drive(w, { args: [[]] });
  await d.task();
  let open = false;
  const task = async () => {
    await d.task();
    open = false;
    while (d.server.closed?.kind === "continued") {
      await d.checkReplay();
      const headers = headersOf(d);
      d = await nextRun(w, d);
      // What was handed on is there in the first task; nothing else may come of an empty one.
      if (
        alone || headers[BUFFERED_SIGNALS_HEADER] !== undefined ||
        headers[CANCEL_REQUEST_HEADER] !== undefined
      ) await d.task();
      else open = true;
    }
  };
  for (const [i, message] of messages.entries()) {
    if (d.server.closed !== undefined) break;
    if (message === "cancel") d.server.requestCancel("enough");
    else d.server.signal("next", message);
    open = true;
    if (cuts[i]) await task();
  }
  if (open && d.server.closed === undefined) await task();
  if (d.server.closed === undefined) return "open";
  await d.checkReplay();
  return [d.server.closed.kind, d.server.closed.result];
}

/** Every way to group the messages gives the same outcome. */
async function sameOutcome(
  w: DefinitionShape,
  messages: Message[],
): Promise<unknown> {
  let first: unknown;
  for (let ways = 0; ways < 2 ** messages.length; ways++) {
    const cuts = messages.map((_, i) => (ways & (1 << i)) !== 0);
    for (const alone of [true, false]) {
      const outcome = await chain(w, messages, cuts, alone);
      first ??= outcome;
      deepEqual(
        outcome,
        first,
        `${w.name}: ${
          messages.map((m, i) => `${m}${cuts[i] ? " |" : ""}`).join(" ")
        }, alone: ${alone}`,
      );
    }
  }
  return first;
}

export const cases: Case[] = [
  {
    name:
      "a cancellation request after the event that causes continue-as-new applies to the next run (P4)",
    async run() {
      const d = await drive(loop, { args: [[]] });
      await d.task();
      d.server.signal("next", "one");
      d.server.requestCancel("enough");
      await d.task();
      deepEqual(Object.keys(headersOf(d)), [CANCEL_REQUEST_HEADER]);
      await d.finish();
      const second = await nextRun(loop, d);
      await second.task();
      deepEqual(await second.finish(), ["one", "Workflow cancelled: enough"]);
    },
  },
  {
    name:
      "uncaught in the next run it cancels the workflow; activities and later runs do not get the header",
    async run() {
      const acts = activities<{ undo(): void }>();
      const w = workflow("W", async (n: number) => {
        if (n === 0) {
          await waitForSignal(next);
          return continueAsNew(1);
        }
        try {
          await sleep("1h");
        } catch {
          await shield(() => acts.undo());
          return n === 1 ? continueAsNew(2) : n;
        }
        return n;
      });
      const d = await drive(w, { args: [0] });
      await d.task();
      d.server.signal("next", "one");
      d.server.requestCancel();
      await d.task();
      const second = await nextRun(w, d);
      await second.task();
      deepEqual(second.commands(), [
        "START_TIMER 1",
        "CANCEL START_TIMER 1",
        "SCHEDULE_ACTIVITY 1",
      ]);
      const scheduled = second.server.events.find((event) =>
        event.attributes.case === "activityTaskScheduledEventAttributes"
      )!;
      deepEqual(
        (scheduled.attributes.value as { header?: unknown }).header,
        undefined,
      );
      second.server.completeActivity("1");
      await second.task();
      deepEqual(headersOf(second), {}, "code knows of it");
      await second.finish();
      const uncaught = workflow("U", async (n: number) => {
        if (n === 1) return await sleep("1h");
        await waitForSignal(next);
        return continueAsNew(1);
      });
      const u = await drive(uncaught, { args: [0] });
      await u.task();
      u.server.signal("next", "one");
      u.server.requestCancel();
      await u.task();
      const last = await nextRun(uncaught, u);
      await last.task();
      equal(last.server.closed?.kind, "cancelled");
      await last.checkReplay();
    },
  },
  {
    name:
      "P9: a chain of runs ends the same however a cancel request and signals were grouped into tasks",
    async run() {
      deepEqual(await sameOutcome(loop, ["a", "cancel"]), ["completed", [
        "a",
        "Workflow cancelled: enough",
      ]]);
      deepEqual(await sameOutcome(loop, ["cancel", "a"]), ["completed", [
        "Workflow cancelled: enough",
      ]]);
      deepEqual(await sameOutcome(loop, ["a", "b", "cancel", "c"]), [
        "completed",
        ["a", "b", "Workflow cancelled: enough"],
      ]);
      deepEqual(await sameOutcome(loop, ["a", "last", "cancel"]), [
        "completed",
        ["a", "last"],
      ]);
      deepEqual(await sameOutcome(shielded, ["a", "cancel", "b", "last"]), [
        "completed",
        ["a", "b", "last"],
      ]);
      deepEqual(await sameOutcome(shielded, ["cancel", "a", "b", "look"]), [
        "completed",
        ["a", "b", "look", "cancelled"],
      ]);
    },
  },
  {
    name:
      "a cancellation request that code noticed is not passed on: it checked, or an awaited call threw",
    async run() {
      const ways: { [name: string]: () => Promise<unknown> } = {
        asked: async () => {
          await shield(() => waitForSignal(next));
          return cancelled();
        },
        "read its reason": async () => {
          await shield(() => waitForSignal(next));
          return workflowInfo().cancelReason;
        },
        "a wait threw": () => sleep("1h").catch(() => {}),
        "a later wait threw": async () => {
          await shield(() => waitForSignal(next));
          await sleep(1).catch(() => {});
        },
        "a receive threw": () => receive(0, [on(next, (_, s) => noreply(s))]).catch(() => {}),
      };
      for (const [name, way] of Object.entries(ways)) {
        const w = workflow("W", async () => {
          await way();
          return continueAsNew();
        });
        const d = await drive(w);
        await d.task();
        d.server.requestCancel();
        if (name !== "a receive threw") d.server.signal("next", "one");
        await d.task();
        deepEqual(
          Object.keys(headersOf(d)).filter((header) => header !== BUFFERED_SIGNALS_HEADER),
          [],
          name,
        );
        await d.finish();
      }
    },
  },
  {
    name:
      "an unnoticed cancellation request is passed on: all code was shielded, or the canceled activity completed",
    async run() {
      const ways: { [name: string]: () => Promise<unknown> } = {
        "in a shield": () => shield(() => waitForSignal(next)),
        "facts were read, but not this one": async () => {
          await shield(() => waitForSignal(next));
          return workflowInfo().historyLength;
        },
        "the activity completed": () => waiting.work(1),
        "only the end of a scope threw": () =>
          shield(() => Promise.race([waitForSignal(next), sleep("1h")])),
      };
      for (const [name, way] of Object.entries(ways)) {
        const w = workflow("W", async (n: number) => {
          if (n === 1) {
            return await sleep("1h").catch((e: CancelledFailure) => e.message);
          }
          await way();
          return continueAsNew(1);
        });
        const d = await drive(w, { args: [0] });
        await d.task();
        d.server.requestCancel("enough");
        await d.task();
        if (name === "the activity completed") {
          d.server.completeActivity("1", 2);
        } else d.server.signal("next", "one");
        await d.task();
        deepEqual(Object.keys(headersOf(d)), [CANCEL_REQUEST_HEADER], name);
        await d.finish();
        const second = await nextRun(w, d);
        await second.task();
        equal(await second.finish(), "Workflow cancelled: enough", name);
      }
    },
  },
  {
    name:
      "in the next run the cancellation comes after carried signals and before the events of the first task",
    async run() {
      const order = workflow("Order", async (n: number): Promise<unknown> => {
        if (n === 0) {
          await waitForSignal(next);
          return continueAsNew(1);
        }
        const seen: unknown[] = [];
        await receive(0, [
          on(go, ([k], s) => (seen.push(k), noreply(s))),
          on(ask, ([k], s) => {
            throw new ApplicationFailure(`${k} after ${s}`);
          }),
          on(end, (_, s) => stop(s)),
        ]).catch((e: Error) => seen.push(e.name));
        return seen;
      });
      const d = await drive(order, { args: [0] });
      await d.task();
      d.server.signal("next", "one");
      d.server.signal("go", 1);
      d.server.requestCancel();
      await d.task();
      deepEqual(
        Object.keys(headersOf(d)).sort(),
        [BUFFERED_SIGNALS_HEADER, CANCEL_REQUEST_HEADER].sort(),
      );
      const second = await nextRun(order, d);
      second.server.signal("go", 2);
      const asked = second.server.update("u1", "ask", 3);
      await second.task();
      deepEqual(await second.finish(), [1, "CancelledFailure"]);
      equal(asked.stage, "rejected");
    },
  },
  {
    name:
      "a run whose code did not check the cancellation passes it on again, and a second request has no effect",
    async run() {
      const d = await drive(shielded, { args: [[]] });
      await d.task();
      d.server.requestCancel("first");
      d.server.signal("next", "a");
      await d.task();
      const second = await nextRun(shielded, d);
      await second.task();
      second.server.requestCancel("second");
      second.server.signal("next", "b");
      await second.task();
      deepEqual(Object.keys(headersOf(second)), [CANCEL_REQUEST_HEADER]);
      await second.finish();
      const third = await nextRun(loop, second, [[]]);
      await third.task();
      deepEqual(await third.finish(), ["Workflow cancelled: first"]);
    },
  },
];
