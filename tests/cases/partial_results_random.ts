// P3 and P9 for cancellation: what a canceled receive or parallel reports equals what its handlers
// and branches had reached, live and replayed, and does not depend on how events were grouped into
// tasks. The interpreter compares in the run; a difference fails the task.
import fc from "fast-check";
import { ok } from "./assert.ts";
import type { Case } from "./case.ts";
import type { Drive } from "./driver.ts";
import { inBrowser } from "./realm_host.ts";
import { canceledParallels, canceledReceives } from "./random_programs.ts";
import { live, regrouped } from "./random_runs.ts";

/** Share of the programs that is run: the core is the same code in every runtime. */
const share = inBrowser ? 0.3 : 0.5;
const cuts = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 });

/** Whether the run reported something that it had reached before its cancellation. */
function reportsPartial(d: Drive): boolean {
  const trace = d.server.closed?.result;
  return Array.isArray(trace) &&
    trace.some((line) => /^run\.\w+ (had|returned) .*[a-z]/.test(String(line)));
}

/** Every third program at least must have something to compare. */
function property(programs: typeof canceledReceives, runs: number): () => Promise<void> {
  return async () => {
    let reported = 0;
    await fc.assert(
      fc.asyncProperty(programs, cuts, fc.boolean(), async (one, groups, cached) => {
        const { d } = await live(one.steps, one.happenings, { cached });
        await d.checkReplay();
        if (reportsPartial(d)) reported++;
        await regrouped(one.steps, one.happenings, groups);
      }),
      { numRuns: runs, seed: 20261129 },
    );
    ok(reported > runs / 3, `only ${reported} of ${runs} runs reported partial results`);
  };
}

export const cases: Case[] = [
  {
    name: "P3, P9: the state of a canceled receive is that after the last processed message",
    run: property(canceledReceives, 80 * share),
  },
  {
    name: "P3, P9: the results of a canceled parallel are the outcomes of its branches",
    run: property(canceledParallels, 60 * share),
  },
];
