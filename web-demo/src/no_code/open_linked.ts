// Opens a linked run on pages of `temporalex ui` and `temporalex debug`: its history comes from the
// store or the cluster.
import type { RunLink } from "temporalex/debug";
import { notify } from "../store/notices.ts";
import { addRun, showRun } from "../store/state.ts";
import { served } from "../served/about.ts";
import { fetchRun, isFetched } from "../served/linked.ts";

/** Whether the page can fetch the run's history. */
export const canOpen = ({ workflowId, runId }: RunLink): boolean =>
  isFetched && workflowId !== "" && runId !== "";

/** Opens the run in addition to the others. `temporalex ui` follows it while it is open. */
export async function openLinked({ workflowId, runId }: RunLink): Promise<void> {
  if (served?.by === "debug") {
    return await fetchRun({ workflowId, runId }).then(
      (run) => {
        addRun(run);
        showRun(run);
      },
      (error: Error) =>
        void notify({ title: `${workflowId} cannot be opened:`, text: error.message }),
    );
  }
  const { debugWatched, watchedRun, watchRun, watchTrouble } = await import(
    "../runs/watched_run.ts"
  );
  await watchRun({ workflowId, runId });
  if (watchedRun.peek() !== undefined) return debugWatched();
  notify({
    title: `${workflowId} cannot be opened:`,
    text: watchTrouble.peek() ?? "the run does not exist.",
  });
}
