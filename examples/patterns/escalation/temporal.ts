// An escalation: notifies one person after the other until one of them takes the incident.
import { condition, defineSignal, proxyActivities, setHandler } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const { notify } = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });

export const take = defineSignal<[person: string]>("take");

export async function incident(people: string[], waitMs: number): Promise<string> {
  let taken: string | undefined;
  setHandler(take, (person) => {
    taken ??= person;
  });
  for (const person of people) {
    await notify(person);
    await condition(() => taken !== undefined, waitMs);
    if (taken !== undefined) return `taken by ${taken}`;
  }
  return "not taken";
}
