// Random programs with the database constructs: named timers, procedures that complete, fail and
// time out, subscriptions, broadcasts, reducers, and endless loops. P3 and P9 hold for them as for
// all others; and where a loop continues as new changes nothing. `tools/soak/random_constructs`
// runs the same properties over many more programs.
import fc from "fast-check";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { deepEqual, equal } from "./assert.ts";
import type { Case } from "./case.ts";
import { comparable, type Drive } from "./driver.ts";
import { endsOfReplay } from "./random_lives.ts";
import {
  lifeWithProcedures,
  program,
  programWithConstructs,
  programWithEverything,
} from "./random_programs.ts";
import { searchAttributes } from "./random_belongings.ts";
import { inBrowser } from "./realm_host.ts";
import { loops } from "./random_rounds.ts";
import { live, regrouped } from "./random_runs.ts";

/** Share of the programs that is run: the core is the same code in every runtime. */
const share = inBrowser ? 0.3 : 0.5;
const cuts = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 });

/** The commands of prefixes are those of the whole, as far as they go. */
async function replaysPrefixes(d: Drive): Promise<void> {
  const { recorded } = await d.checkReplay();
  const { events } = d.server;
  // Two tasks with no outside event between them are one commit (the result of a reducer), or one
  // task with a heartbeat: no history ends there. And in a task that is open, local activities that
  // run have no end yet.
  const isWhole = (i: number) =>
    events[i - 1]!.eventType !== EventType.WORKFLOW_TASK_STARTED &&
    events[i]?.eventType !== EventType.WORKFLOW_TASK_SCHEDULED;
  for (const i of endsOfReplay(events).filter(isWhole)) {
    const verdict = await d.parts.runner.replay("wf", d.server.history(i), { record: true });
    equal(verdict.verdict, "ok", `prefix of ${i} events: ${verdict.error?.message}`);
    const upTo = recorded!.filter((activation) => activation.startedEventId <= i);
    deepEqual(comparable(verdict.recorded!), comparable(upTo), `prefix of ${i} events`);
  }
}

/** Each property with what it is drawn from; `runs` of the tests. */
export const PROPERTIES = {
  "P3: random programs with every construct replay byte for byte, with a cache and without, and from every prefix":
    {
      runs: 60,
      property: fc.asyncProperty(
        programWithEverything,
        lifeWithProcedures,
        fc.boolean(),
        async (steps, happenings, cached) => {
          const { d } = await live(steps, happenings, { cached, started: { searchAttributes } });
          await replaysPrefixes(d);
        },
      ),
    },
  "P9: regrouping gives the same outcome with procedures that complete, fail or time out, named timers and subscriptions":
    {
      runs: 80,
      property: fc.asyncProperty(programWithConstructs, lifeWithProcedures, cuts, regrouped),
    },
  "P9: a loop without an end comes to the same in one run and in many, and each run replays": {
    runs: 80,
    property: fc.asyncProperty(
      fc.oneof(program, programWithConstructs),
      lifeWithProcedures,
      cuts,
      fc.boolean(),
      loops,
    ),
  },
} as const;

export const cases: Case[] = Object.entries(PROPERTIES).map(([name, { property, runs }]) => ({
  name,
  run: () =>
    fc.assert(property as fc.IAsyncProperty<unknown>, { numRuns: runs * share, seed: 20261123 }),
}));
