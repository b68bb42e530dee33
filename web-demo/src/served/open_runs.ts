// What `temporalex ui` was started with: the room of runs, and the run that an address names.
import { room } from "../app/state.ts";
import { served } from "./about.ts";
import { watchNewEvents } from "./new_events.tsx";
import { listen } from "./open_served.ts";

/** Begins the room. Returns whether it is in sight now: the address names nothing else. */
export async function openRunsRoom(): Promise<boolean> {
  if (served?.by !== "ui") return false;
  watchNewEvents();
  if (served.code === true) listen();
  const [{ watchRuns }, { debugWatched, keepPanelInAddress, watchedOf, watchRun }] = await Promise.all([
    import("../runs/state.ts"),
    import("../runs/watched_run.ts"),
  ]);
  watchRuns();
  keepPanelInAddress();
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
