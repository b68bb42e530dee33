// Plays the run: one event every 400 ms, independent of recorded times. Stops at the end.
import { effect } from "@preact/signals";
import { currentRun, goTo, length, playing, position } from "../store/state.ts";
import { crossRun, isAtEnd } from "../chain/state.ts";
import { stopBetween } from "../code/stops.ts";

export const PLAY_MS = 400;

/** Starts and stops playing. At the end of the run it starts from the beginning. */
export function togglePlay(): void {
  if (!playing.value && isAtEnd.value) goTo(1);
  playing.value = !playing.value;
}

/** Plays while `playing` is true. Returns a function that stops it. */
export function watchPlay(): () => void {
  return effect(() => {
    if (!playing.value) return;
    const timer = setInterval(() => {
      if (crossRun(1)) return;
      const from = position.value;
      if (from < length.value) goTo(from + 1);
      const run = currentRun.value;
      const isStop = run !== undefined && stopBetween(run, from, position.value) !== undefined;
      if (isStop || isAtEnd.value) playing.value = false;
    }, PLAY_MS);
    return () => clearInterval(timer);
  });
}
