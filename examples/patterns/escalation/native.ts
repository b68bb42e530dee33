// An escalation: notifies one person after the other until one of them takes the incident.
import { activities, on, select, signal, timer, workflow } from "temporalex/workflow";

const { notify } = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export const take = signal<[person: string]>("take");

export const incident = workflow("incident", async (people: string[], waitMs: number) => {
  for (const person of people) {
    await notify(person);
    const taken = await select([on(take, ([by]) => by), timer(waitMs, () => undefined)]);
    if (taken !== undefined) return `taken by ${taken}`;
  }
  return "not taken";
});
