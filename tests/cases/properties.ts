// Property tests over random programs and lives: P3 (replay of any prefix, from any pages, with and
// without a cache gives byte-identical commands) and P9 (the outcome depends on the order of
// events, never on how they were grouped into tasks).
import fc from "fast-check";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { comparable } from "./driver.ts";
import { endsOfReplay } from "./random_lives.ts";
import { inBrowser } from "./realm_host.ts";
import { life, program, programWithLocals, programWithReducers } from "./random_programs.ts";
import { live, regrouped } from "./random_runs.ts";

/** Each runtime runs the same programs; tools/soak/random_constructs.ts runs many more. */
const settings = { numRuns: inBrowser ? 12 : 18, seed: 20260101 };

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
    name: "P3: the replay of every prefix yields the commands of the whole history up to its end",
    run: () =>
      fc.assert(
        fc.asyncProperty(program, life, async (steps, happenings) => {
          const { d } = await live(steps, happenings);
          const { recorded } = await d.checkReplay();
          const { events } = d.server;
          for (const i of endsOfReplay(events)) {
            const verdict = await d.parts.runner.replay("wf", d.server.history(i), {
              record: true,
            });
            equal(verdict.verdict, "ok", `prefix of ${i} events: ${verdict.error?.message}`);
            const upTo = recorded!.filter((activation) => activation.startedEventId <= i);
            deepEqual(comparable(verdict.recorded!), comparable(upTo), `prefix of ${i} events`);
          }
        }),
        { ...settings, numRuns: 10 },
      ),
  },
  {
    name:
      "P3: random programs with local activities replay byte for byte, with a cache and without, and from every prefix",
    run: () =>
      fc.assert(
        fc.asyncProperty(
          programWithLocals,
          life,
          fc.boolean(),
          async (steps, happenings, cached) => {
            const { d } = await live(steps, happenings, { cached });
            const { recorded } = await d.checkReplay();
            const { events } = d.server;
            // In a task that is open, what runs has no end yet.
            const closed = (i: number) =>
              events[i - 1]!.eventType !== EventType.WORKFLOW_TASK_STARTED;
            for (const i of endsOfReplay(events).filter(closed)) {
              const verdict = await d.parts.runner.replay("wf", d.server.history(i), {
                record: true,
              });
              equal(verdict.verdict, "ok", `prefix of ${i} events: ${verdict.error?.message}`);
              const upTo = recorded!.filter((activation) => activation.startedEventId <= i);
              deepEqual(comparable(verdict.recorded!), comparable(upTo), `prefix of ${i} events`);
            }
          },
        ),
        settings,
      ),
  },
  {
    name:
      "P3: random programs with reducers replay byte for byte, with a cache and without, and from every prefix",
    run: () =>
      fc.assert(
        fc.asyncProperty(
          programWithReducers,
          life,
          fc.boolean(),
          async (steps, happenings, cached) => {
            const { d } = await live(steps, happenings, { cached });
            const { recorded } = await d.checkReplay();
            const { events } = d.server;
            // The commit with a result schedules the task that delivers it: no history ends between
            // the two.
            const open = (i: number) =>
              events[i - 1]!.eventType === EventType.WORKFLOW_TASK_STARTED;
            for (const i of endsOfReplay(events).filter(open)) {
              const verdict = await d.parts.runner.replay("wf", d.server.history(i), {
                record: true,
              });
              equal(verdict.verdict, "ok", `prefix of ${i} events: ${verdict.error?.message}`);
              const upTo = recorded!.filter((activation) => activation.startedEventId <= i);
              deepEqual(comparable(verdict.recorded!), comparable(upTo), `prefix of ${i} events`);
            }
          },
        ),
        settings,
      ),
  },
  {
    name: "P9: grouping events into other tasks does not change the outcome",
    run: () =>
      fc.assert(
        fc.asyncProperty(
          program,
          life,
          fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }),
          regrouped,
        ),
        { ...settings, numRuns: inBrowser ? 40 : 60 },
      ),
  },
];
