// Property tests over random programs and lives: P3 (replay of any prefix, from any pages, with and without a cache gives byte-identical
// commands) and P9 (the outcome depends on the order of events, never on how they were grouped into tasks).
import fc from "fast-check";
import { ApplicationFailure } from "../../ts/workflow/mod.ts";
import { EventType } from "../../ts/temporal/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { HistoryEvent } from "../../ts/temporal/generated/temporal/api/history/v1/message_pb.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { comparable, type Drive, drive, type DriveOptions } from "./driver.ts";
import { type Happening, interpreter, life, program, type Step } from "./random_programs.ts";

/** A happening with its choice made. */
type Concrete =
  | { kind: "signal"; name: string; n: number }
  | { kind: "update"; id: string; name: string; n: number }
  | { kind: "timer"; id: string }
  // `cancelled`: the workflow has given it up, so what it answers is swallowed.
  | { kind: "activity"; id: string; fails: boolean; cancelled: boolean }
  | { kind: "cancel" };

/** What happens to the run as it stands, or undefined when it cannot. */
function choose(d: Drive, happening: Happening, index: number): Concrete | undefined {
  const { timers, activities } = d.server;
  const nth = <T>(keys: Iterable<T>, pick: number): T | undefined => {
    const all = [...keys];
    return all[pick % Math.max(1, all.length)];
  };
  switch (happening.kind) {
    case "timer": {
      const id = nth(timers.keys(), happening.pick);
      return id === undefined ? undefined : { kind: "timer", id };
    }
    case "activity": {
      const id = nth(activities.keys(), happening.pick);
      if (id === undefined) return undefined;
      return { kind: "activity", id, fails: happening.fails, cancelled: activities.get(id)!.cancelRequested };
    }
    case "update":
      return { ...happening, id: `update-${index}` };
    default:
      return happening;
  }
}

function isPossible(d: Drive, event: Concrete): boolean {
  if (event.kind === "timer") return d.server.timers.has(event.id);
  return event.kind !== "activity" || d.server.activities.has(event.id);
}

function happen(d: Drive, event: Concrete): void {
  const { server } = d;
  switch (event.kind) {
    case "signal":
      return server.signal(event.name, event.n);
    case "update":
      return void server.update(event.id, event.name, event.n);
    case "timer":
      return server.fireTimer(event.id);
    case "activity":
      if (event.fails) return server.failActivity(event.id, new ApplicationFailure(`activity ${event.id} failed`));
      return server.completeActivity(event.id, `result ${event.id}`);
    case "cancel":
      return server.requestCancel("enough");
  }
}

async function task(d: Drive): Promise<void> {
  await d.task();
  equal(d.server.taskFailure, undefined, `task failed: ${d.server.taskFailure?.failure.message}`);
}

/** When the life is over: lets everything end, by stops, oldest timers and activities. */
const LAST: Happening[] = [
  { kind: "activity", pick: 0, fails: false },
  { kind: "timer", pick: 0 },
  { kind: "signal", name: "a", n: 0 },
  { kind: "signal", name: "b", n: 0 },
  { kind: "signal", name: "stop", n: 0 },
];

/** Runs the program with a task after every event; answers what happened, as it was chosen. */
async function live(
  steps: Step[],
  happenings: Happening[],
  options: DriveOptions = {},
): Promise<{ d: Drive; events: Concrete[] }> {
  const d = await drive(interpreter, { args: [steps], ...options });
  const events: Concrete[] = [];
  await task(d);
  const all = [...happenings, ...Array.from({ length: 60 }, () => LAST).flat()];
  for (let i = 0; i < all.length && d.server.closed === undefined; i++) {
    const event = choose(d, all[i]!, i);
    if (event === undefined) continue;
    happen(d, event);
    events.push(event);
    await task(d);
  }
  return { d, events };
}

/** The outcome for everybody: the close, the answers to updates. */
function outcome(d: Drive): unknown {
  const { closed, updates } = d.server;
  return {
    closed: closed === undefined ? "open" : [closed.kind, closed.result, closed.failure?.message],
    updates: [...updates.values()].map((u) => [u.id, u.stage, u.result, u.failure?.message]),
  };
}

/** Written by the completion of a workflow task. */
function isOfTask(event: HistoryEvent | undefined): boolean {
  if (event === undefined) return false;
  if (event.eventType === EventType.WORKFLOW_TASK_COMPLETED) return true;
  if (event.eventType === EventType.WORKFLOW_EXECUTION_UPDATE_ACCEPTED) return true;
  if (event.eventType === EventType.WORKFLOW_EXECUTION_UPDATE_COMPLETED) return true;
  return "workflowTaskCompletedEventId" in (event.attributes.value ?? {});
}

/** The open task at the end of the first `i` events was given updates, which are in its messages and not in this history. */
function takesUpdates(events: readonly HistoryEvent[], i: number): boolean {
  for (const event of events.slice(i)) {
    if (!isOfTask(event)) return false;
    if (event.eventType === EventType.WORKFLOW_EXECUTION_UPDATE_ACCEPTED) return true;
  }
  return false;
}

const settings = { numRuns: 60, seed: 20260101 };

export const cases: Case[] = [
  {
    name: "P3: random programs replay byte for byte, with a cache and without",
    run: () =>
      fc.assert(
        fc.asyncProperty(program, life, fc.boolean(), async (steps, happenings, cached) => {
          const { d } = await live(steps, happenings, { cached });
          await d.checkReplay();
        }),
        settings,
      ),
  },
  {
    name: "P3: the replay of every prefix gives the commands of the whole, as far as it goes",
    run: () =>
      fc.assert(
        fc.asyncProperty(program, life, async (steps, happenings) => {
          const { d } = await live(steps, happenings);
          const { recorded } = await d.checkReplay();
          const { events } = d.server;
          for (let i = 3; i <= events.length; i++) {
            // What a completed task caused is written at once, and nothing runs before a task is started: histories end there.
            const last = events[i - 1]!;
            const ends = last.eventType === EventType.WORKFLOW_TASK_STARTED || (isOfTask(last) && !isOfTask(events[i]));
            if (!ends || takesUpdates(events, i)) continue;
            const verdict = await d.parts.runner.replay("wf", d.server.history(i), { record: true });
            equal(verdict.verdict, "ok", `prefix of ${i} events: ${verdict.error?.message}`);
            const upTo = recorded!.filter((activation) => activation.startedEventId <= i);
            deepEqual(comparable(verdict.recorded!), comparable(upTo), `prefix of ${i} events`);
          }
        }),
        { ...settings, numRuns: 25 },
      ),
  },
  {
    name: "P9: regrouping events into other tasks gives the same outcome",
    run: () =>
      fc.assert(
        fc.asyncProperty(
          program,
          life,
          fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }),
          async (steps, happenings, cuts) => {
            const { d, events } = await live(steps, happenings);
            const again = await drive(interpreter, { args: [steps] });
            let open = true;
            // A receive with timeout 0 in the first turn handles what came with the start: there the size of the first task matters.
            if (steps.some((step) => step.op === "receive" && step.timeout === 0)) {
              await task(again);
              open = false;
            }
            for (const [i, event] of events.entries()) {
              // An update is the last of its task: it counts as coming after the task's events.
              const before = events[i - 1];
              const must = !isPossible(again, event) || (before?.kind === "update" && event.kind !== "update");
              if (open && (must || cuts[i % cuts.length]!)) {
                await task(again);
                open = false;
              }
              if (again.server.closed !== undefined) break;
              // Scheduled and given up in one task here, so it never was.
              if (event.kind === "activity" && event.cancelled && !isPossible(again, event)) continue;
              happen(again, event);
              open = true;
            }
            if (open && again.server.closed === undefined) await task(again);
            deepEqual(outcome(again), outcome(d), `events: ${JSON.stringify(events)}`);
            await again.checkReplay();
          },
        ),
        { ...settings, numRuns: 120 },
      ),
  },
];
