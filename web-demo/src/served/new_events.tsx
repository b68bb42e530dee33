// "12 new events": a button next to the verdict that moves to the end of the run.
import { effect } from "@preact/signals";
import type { JSX } from "preact";
import { addActions } from "../store/actions.tsx";
import { currentRun, goTo, length, type OpenRun, position } from "../store/state.ts";
import { newEvents } from "./grown.ts";
import "./served.css";

function NewEvents({ run }: { run: OpenRun }): JSX.Element | null {
  const count = newEvents.value;
  if (count === 0) return null;
  return (
    <button
      type="button"
      class="button new-events"
      id="new-events"
      onClick={() => goTo(run.model.lines.length)}
    >
      {count} new {count === 1 ? "event" : "events"}
    </button>
  );
}

/** Shows the button while there are unseen events. */
export function watchNewEvents(): void {
  addActions(NewEvents);
  effect(() => {
    if (currentRun.value === undefined || position.value === length.value) newEvents.value = 0;
  });
}
