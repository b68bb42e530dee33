// What buttons and keys of the transport do.
import { bindKeys } from "../app/keys.ts";
import { currentRun, goTo, length, playing, position, stepUnit } from "../app/state.ts";
import { crossRun } from "../chain/state.ts";
import { stopBetween } from "../code/stops.ts";
import { togglePlay } from "./play.ts";
import { positionsOf, step } from "./steps.ts";

/** A step of the reader's own: it ends the playing. */
export function moveTo(wanted: number): void {
  playing.value = false;
  goTo(wanted);
}

/** One step of the chosen unit, or of a given one. */
export function stepBy(by: 1 | -1, unit = stepUnit.value): void {
  const run = currentRun.value;
  if (run === undefined) return;
  if (crossRun(by)) return void (playing.value = false);
  // Where nothing is known of the unit a step is one event.
  const positions = positionsOf(unit, run, position.value) ?? positionsOf("event", run, position.value)!;
  const to = step(positions, position.value, by, length.value);
  moveTo(stopBetween(run, position.value, to) ?? to);
}

export function bindTransportKeys(): () => void {
  return bindKeys([
    { keys: ["ArrowLeft"], group: "Move", label: "Step back", run: () => stepBy(-1) },
    { keys: ["ArrowRight"], group: "Move", label: "Step forward", run: () => stepBy(1) },
    { keys: ["Shift+ArrowLeft"], group: "Move", label: "Task back", run: () => stepBy(-1, "task") },
    { keys: ["Shift+ArrowRight"], group: "Move", label: "Task forward", run: () => stepBy(1, "task") },
    { keys: ["Home", "End"], group: "Move", label: "Start, end, on the timeline" },
    { keys: ["p"], group: "Move", label: "Play, pause", run: togglePlay },
  ]);
}
