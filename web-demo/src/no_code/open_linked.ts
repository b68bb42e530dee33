// Another run that a history names, on the page of `temporalex ui`: its history comes from the store or the cluster.
import type { RunLink } from "temporalex/debug";
import { notify } from "../app/notices.ts";
import { served } from "../served/about.ts";

/** Whether the page can get the run's history. */
export const canOpen = ({ workflowId, runId }: RunLink): boolean => served?.by === "ui" && workflowId !== "" && runId !== "";

/** Opens it beside the others, and follows it while it is open. */
export async function openLinked({ workflowId, runId }: RunLink): Promise<void> {
  const { debugWatched, watchedRun, watchRun, watchTrouble } = await import("../runs/watched_run.ts");
  await watchRun({ workflowId, runId });
  if (watchedRun.peek() !== undefined) return debugWatched();
  notify({ title: `${workflowId} cannot be opened:`, text: watchTrouble.peek() ?? "there is no such run." });
}
