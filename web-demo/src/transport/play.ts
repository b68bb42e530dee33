// Plays the run: one event every 400 ms, whatever the time between them was. Stops at the end.
import { effect } from "@preact/signals";
import { goTo, length, playing, position } from "../app/state.ts";

export const PLAY_MS = 400;

/** Plays and stops. At the end it begins anew. */
export function togglePlay(): void {
  if (!playing.value && position.value >= length.value) goTo(1);
  playing.value = !playing.value;
}

/** Follows `playing`. Returns what ends it. */
export function watchPlay(): () => void {
  return effect(() => {
    if (!playing.value) return;
    const timer = setInterval(() => {
      if (position.value < length.value) goTo(position.value + 1);
      if (position.value >= length.value) playing.value = false;
    }, PLAY_MS);
    return () => clearInterval(timer);
  });
}
