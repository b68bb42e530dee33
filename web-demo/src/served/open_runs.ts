// The start of a page of `temporalex ui`: the room of runs, and the run that the address names.
import { room } from "../store/state.ts";
import { served } from "./about.ts";
import { watchNewEvents } from "./new_events.tsx";
import { listenForSaves } from "./open_served.ts";

/** Starts the room. Resolves with whether it is shown: the address can name another room. */
export async function openRunsRoom(): Promise<boolean> {
  if (served?.by !== "ui") return false;
  watchNewEvents();
  if (served.code === true) listenForSaves();
  const [
    { watchRuns },
    { debugWatched, keepPanelInAddress, watchedOf, watchRun },
    { keepScheduleInAddress },
    { keepColumnsInAddress },
  ] = await Promise.all([
    import("../runs/state.ts"),
    import("../runs/watched_run.ts"),
    import("../runs/chosen_schedule.ts"),
    import("../runs/columns.ts"),
  ]);
  watchRuns();
  keepPanelInAddress();
  keepScheduleInAddress();
  keepColumnsInAddress();
  const key = new URLSearchParams(/^#\/open\?(.*)$/.exec(location.hash)?.[1] ?? "").get("run");
  const named = key === null ? undefined : watchedOf(key);
  if (named !== undefined) {
    await watchRun(named);
    debugWatched();
    return false;
  }
  if (key !== null || /^#\/live/.test(location.hash)) return false;
  room.value = "runs";
  return true;
}
