// Moves in the run.
import type { JSX } from "preact";
import { goTo, length, position } from "../app/state.ts";
import "./transport.css";

export function Transport(): JSX.Element {
  return (
    <div class="transport" role="toolbar" aria-label="Move in the run">
      <button type="button" class="button small" onClick={() => goTo(1)}>Start</button>
      <button type="button" class="button small" onClick={() => goTo(position.value - 1)}>Back</button>
      <button type="button" class="button small" onClick={() => goTo(position.value + 1)}>Forward</button>
      <button type="button" class="button small" onClick={() => goTo(length.value)}>End</button>
      <b id="position">Event {position.value} of {length.value}</b>
    </div>
  );
}
