import { openRunsRoom } from "./open_runs.ts";
import { openServed as openHistories } from "./open_served.ts";

/** Opens what the command that serves this page was started with. Returns whether the address is of it from now on. */
export async function openServed(): Promise<boolean> {
  return await openHistories() || await openRunsRoom();
}
