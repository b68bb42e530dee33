import { openRunsRoom } from "./open_runs.ts";
import { openServedHistories } from "./open_served.ts";

/**
 * Opens the histories of the command that serves this page. Resolves with whether the address
 * belongs to one of them from now on.
 */
export async function openServed(): Promise<boolean> {
  return await openServedHistories() || await openRunsRoom();
}
