// An interpreter: runs a plan that is data, with steps in sequence, steps at once, and waits.
import { activities, parallel, sleep, workflow } from "temporalex/workflow";

const { perform } = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export type Plan =
  | { readonly step: string }
  | { readonly wait: number }
  | { readonly sequence: readonly Plan[] }
  | { readonly all: readonly Plan[] };

async function follow(plan: Plan): Promise<string[]> {
  if ("step" in plan) return [await perform(plan.step)];
  if ("wait" in plan) {
    await sleep(plan.wait);
    return [];
  }
  const done: string[] = [];
  if ("sequence" in plan) {
    for (const part of plan.sequence) done.push(...await follow(part));
    return done;
  }
  for (const part of await parallel(plan.all.map((each) => () => follow(each)))) {
    if (!part.ok) throw part.error;
    done.push(...part.value);
  }
  return done;
}

export const interpreter = workflow("interpreter", follow);
