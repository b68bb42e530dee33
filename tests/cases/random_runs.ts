// Random programs lived on the tiny server, for property tests: an event per task, and the same
// events grouped into other tasks.
import { deepEqual, equal } from "./assert.ts";
import { type Drive, drive, type DriveOptions } from "./driver.ts";
import { interpreter, type Step } from "./random_interpreter.ts";
import { choose, type Concrete, happen, isPossible, LAST } from "./random_lives.ts";
import type { Happening } from "./random_programs.ts";

async function task(d: Drive): Promise<void> {
  do {
    await d.task();
    equal(d.server.taskFailure, undefined, `task failed: ${d.server.taskFailure?.failure.message}`);
  } while (d.server.hasAnswer && d.server.closed === undefined);
}

/** Runs the program with a task after every event; returns the events in the chosen order. */
export async function live(
  steps: Step[],
  happenings: Happening[],
  options: DriveOptions = {},
): Promise<{ d: Drive; events: Concrete[] }> {
  const d = await drive(interpreter, { args: [steps], ...options });
  const events: Concrete[] = [];
  await task(d);
  const all = [...happenings, ...Array.from({ length: 60 }, () => LAST).flat()];
  for (let i = 0; i < all.length && d.server.closed === undefined; i++) {
    const event = choose(d.server, all[i]!, i);
    // After a heartbeat the next task comes by itself.
    if (event === undefined && d.outcomes.at(-1)!.heartbeat) await task(d);
    if (event === undefined) continue;
    happen(d.server, event);
    events.push(event);
    await task(d);
  }
  return { d, events };
}

/** The visible outcome: the close, the results of updates. */
function outcome(d: Drive): unknown {
  const { closed, updates } = d.server;
  return {
    closed: closed === undefined
      ? "open"
      : [closed.kind, closed.result, closed.failure?.message, closed.next],
    updates: [...updates.values()].map((u) => [u.id, u.stage, u.result, u.failure?.message]),
  };
}

/** Whether a program can tell which messages came with its start. */
const seesFirstTask = (steps: Step[]) => /"timeout":0|"op":"select"/.test(JSON.stringify(steps));

/** The same life with its events grouped into other tasks must come to the same (P9). */
export async function regrouped(
  steps: Step[],
  happenings: Happening[],
  cuts: boolean[],
): Promise<void> {
  const { d, events } = await live(steps, happenings);
  const again = await drive(interpreter, { args: [steps] });
  let open = true;
  // What came with the start is there in the first turn, for a receive with timeout 0 and for a
  // select: there the size of the first task matters.
  if (seesFirstTask(steps)) {
    await task(again);
    open = false;
  }
  for (const [i, event] of events.entries()) {
    // An update is the last of its task: it counts as coming after the task's events.
    const before = events[i - 1];
    const must = !isPossible(again.server, event) ||
      (before?.kind === "update" && event.kind !== "update");
    if (open && (must || cuts[i % cuts.length]!)) {
      await task(again);
      open = false;
    }
    if (again.server.closed !== undefined) break;
    // Scheduled and canceled in one task here, so history does not have it.
    if (event.kind === "activity" && event.cancelled && !isPossible(again.server, event)) continue;
    happen(again.server, event);
    open = true;
  }
  if (open && again.server.closed === undefined) await task(again);
  deepEqual(outcome(again), outcome(d), `events: ${JSON.stringify(events)}`);
  await again.checkReplay();
}
