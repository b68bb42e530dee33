// The schedule whose panel is open, also in the address.
import { type Signal, signal } from "@preact/signals";
import { bindToAddress, parseRoute } from "../store/router.ts";
import { room } from "../store/state.ts";
import { view } from "./state.ts";

/** Id of the schedule. */
export const chosenSchedule: Signal<string | undefined> = signal<string | undefined>(undefined);

export function keepScheduleInAddress(): void {
  const given = parseRoute(location.hash);
  if (given?.room === "runs") chosenSchedule.value = given.more.get("schedule");
  bindToAddress("schedule", {
    get value() {
      return room.value === "runs" && view.value === "schedules" ? chosenSchedule.value : undefined;
    },
    set value(id) {
      if (parseRoute(location.hash)?.room === "runs") chosenSchedule.value = id;
    },
  });
}
