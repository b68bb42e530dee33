// An interpreter: runs a plan that is data, with steps in sequence, steps at once, and waits.
import { proxyActivities, sleep } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const { perform } = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });

export type Plan =
  | { readonly step: string }
  | { readonly wait: number }
  | { readonly sequence: readonly Plan[] }
  | { readonly all: readonly Plan[] };

export async function interpreter(plan: Plan): Promise<string[]> {
  if ("step" in plan) return [await perform(plan.step)];
  if ("wait" in plan) {
    await sleep(plan.wait);
    return [];
  }
  const done: string[] = [];
  if ("sequence" in plan) {
    for (const part of plan.sequence) done.push(...await interpreter(part));
    return done;
  }
  // Waits for all parts, also if one fails: none is left running.
  for (const part of await Promise.allSettled(plan.all.map(interpreter))) {
    if (part.status === "rejected") throw part.reason;
    done.push(...part.value);
  }
  return done;
}
