// A report that grows beyond what a history may hold: each part is written by an activity, and the
// state is carried over continueAsNew.
import { activities, continueAsNew, workflow } from "temporalex/workflow";

const acts = activities<typeof import("./activities.ts")>({ startToClose: "1m" });

export const report = workflow("Report", async (parts: number, text = "") => {
  const longer = text + await acts.write(parts);
  return parts > 1 ? continueAsNew(parts - 1, longer) : longer;
});
