// Opens a linked run: one that is open on this page, or, on pages of `temporalex ui` and
// `temporalex debug`, one of the store or the cluster.
import type { RunLink } from "temporalex/debug";
import { notify } from "../store/notices.ts";
import { addRun, openedRuns, type OpenRun, showRun } from "../store/state.ts";
import { served } from "../served/about.ts";
import { fetchRun, isFetched } from "../served/linked.ts";

/** The opened run that a link refers to. */
const findOpened = (link: RunLink): OpenRun | undefined =>
  openedRuns.value.find(({ model: { facts } }) =>
    facts.runId === link.runId || (link.runId === "" && facts.id === link.workflowId)
  );

/** Whether the linked run can be opened without another file. */
export const isAtHand = (link: RunLink): boolean => findOpened(link) !== undefined || canOpen(link);

/** Shows the linked run, which is at hand. */
export function openAtHand(link: RunLink): void {
  const run = findOpened(link);
  if (run !== undefined) showRun(run);
  else void openLinked(link);
}

/** Whether the page can fetch the run's history. */
const canOpen = ({ workflowId, runId }: RunLink): boolean =>
  isFetched && workflowId !== "" && runId !== "";

/** Opens the run in addition to the others. `temporalex ui` follows it while it is open. */
async function openLinked({ workflowId, runId }: RunLink): Promise<void> {
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
