// Property tests over random programs and lives: P3 (replay of any prefix, from any pages, with and without a cache gives byte-identical
// commands) and P9 (the outcome depends on the order of events, never on how they were grouped into tasks).
import fc from "fast-check";
import { EventType } from "../../ts/api/generated/temporal/api/enums/v1/event_type_pb.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { comparable, type Drive, drive, type DriveOptions } from "./driver.ts";
import { interpreter, type Step } from "./random_interpreter.ts";
import { choose, type Concrete, endsOfReplay, happen, isPossible, LAST } from "./random_lives.ts";
import { type Happening, life, program, programWithLocals, programWithReducers } from "./random_programs.ts";

async function task(d: Drive): Promise<void> {
  do {
    await d.task();
    equal(d.server.taskFailure, undefined, `task failed: ${d.server.taskFailure?.failure.message}`);
  } while (d.server.hasAnswer && d.server.closed === undefined);
}

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

/** The outcome for everybody: the close, the answers to updates. */
function outcome(d: Drive): unknown {
  const { closed, updates } = d.server;
  return {
    closed: closed === undefined ? "open" : [closed.kind, closed.result, closed.failure?.message, closed.next],
    updates: [...updates.values()].map((u) => [u.id, u.stage, u.result, u.failure?.message]),
  };
}

/** Whether a program can tell which messages came with its start. */
const seesFirstTask = (steps: Step[]) => /"timeout":0|"op":"select"/.test(JSON.stringify(steps));

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
          for (const i of endsOfReplay(events)) {
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
    name: "P3: random programs with local activities replay byte for byte, with a cache and without, and from every prefix",
    run: () =>
      fc.assert(
        fc.asyncProperty(programWithLocals, life, fc.boolean(), async (steps, happenings, cached) => {
          const { d } = await live(steps, happenings, { cached });
          const { recorded } = await d.checkReplay();
          const { events } = d.server;
          // In a task that is open, what runs has no end yet.
          const closed = (i: number) => events[i - 1]!.eventType !== EventType.WORKFLOW_TASK_STARTED;
          for (const i of endsOfReplay(events).filter(closed)) {
            const verdict = await d.parts.runner.replay("wf", d.server.history(i), { record: true });
            equal(verdict.verdict, "ok", `prefix of ${i} events: ${verdict.error?.message}`);
            const upTo = recorded!.filter((activation) => activation.startedEventId <= i);
            deepEqual(comparable(verdict.recorded!), comparable(upTo), `prefix of ${i} events`);
          }
        }),
        settings,
      ),
  },
  {
    name: "P3: random programs with reducers replay byte for byte, with a cache and without, and from every prefix",
    run: () =>
      fc.assert(
        fc.asyncProperty(programWithReducers, life, fc.boolean(), async (steps, happenings, cached) => {
          const { d } = await live(steps, happenings, { cached });
          const { recorded } = await d.checkReplay();
          const { events } = d.server;
          // The commit that has an answer schedules the task that brings it: no history ends between the two.
          const open = (i: number) => events[i - 1]!.eventType === EventType.WORKFLOW_TASK_STARTED;
          for (const i of endsOfReplay(events).filter(open)) {
            const verdict = await d.parts.runner.replay("wf", d.server.history(i), { record: true });
            equal(verdict.verdict, "ok", `prefix of ${i} events: ${verdict.error?.message}`);
            const upTo = recorded!.filter((activation) => activation.startedEventId <= i);
            deepEqual(comparable(verdict.recorded!), comparable(upTo), `prefix of ${i} events`);
          }
        }),
        settings,
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
            // What came with the start is there in the first turn, for a receive with timeout 0 and for a select: there the size of the
            // first task matters.
            if (seesFirstTask(steps)) {
              await task(again);
              open = false;
            }
            for (const [i, event] of events.entries()) {
              // An update is the last of its task: it counts as coming after the task's events.
              const before = events[i - 1];
              const must = !isPossible(again.server, event) || (before?.kind === "update" && event.kind !== "update");
              if (open && (must || cuts[i % cuts.length]!)) {
                await task(again);
                open = false;
              }
              if (again.server.closed !== undefined) break;
              // Scheduled and given up in one task here, so it never was.
              if (event.kind === "activity" && event.cancelled && !isPossible(again.server, event)) continue;
              happen(again.server, event);
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
