// Actions of the transport's buttons and keys.
import { bindKeys } from "../store/keys.ts";
import { currentRun, goTo, length, playing, position, stepUnit } from "../store/state.ts";
import { crossRun } from "../chain/state.ts";
import { stopBetween } from "../code/stops.ts";
import { togglePlay } from "./play.ts";
import { positionsOf, step } from "./steps.ts";

/** A step of the reader: it stops playing. */
export function moveTo(wanted: number): void {
  playing.value = false;
  goTo(wanted);
}

/** Moves one step of the chosen unit, or of the given one. */
export function stepBy(by: 1 | -1, unit = stepUnit.value): void {
  const run = currentRun.value;
  if (run === undefined) return;
  if (crossRun(by)) return void (playing.value = false);
  // The step is one event if no positions of the unit are known.
  const positions = positionsOf(unit, run, position.value) ??
    positionsOf("event", run, position.value)!;
  const to = step(positions, position.value, by, length.value);
  moveTo(stopBetween(run, position.value, to) ?? to);
}

export function bindTransportKeys(): () => void {
  return bindKeys([
    { keys: ["ArrowLeft"], group: "Move", label: "Step back", run: () => stepBy(-1) },
    { keys: ["ArrowRight"], group: "Move", label: "Step forward", run: () => stepBy(1) },
    {
      keys: ["Shift+ArrowLeft"],
      group: "Move",
      label: "One task back",
      run: () => stepBy(-1, "task"),
    },
    {
      keys: ["Shift+ArrowRight"],
      group: "Move",
      label: "One task forward",
      run: () => stepBy(1, "task"),
    },
    { keys: ["Home", "End"], group: "Move", label: "Start and end (on the timeline)" },
    { keys: ["p"], group: "Move", label: "Play or pause", run: togglePlay },
  ]);
}
