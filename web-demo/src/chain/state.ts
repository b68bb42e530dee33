// Whether the timeline shows the current run or all related runs, and steps across the boundary of
// two runs. The timeline of a chain is loaded when it is first shown.
import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { tieOfLink } from "../store/chain.ts";
import { familiesOf, type Family, type Piece } from "../store/family.ts";
import { bindToAddress } from "../store/router.ts";
import {
  currentRun,
  goTo,
  length,
  openedRuns,
  type OpenRun,
  playing,
  position,
  showRun,
} from "../store/state.ts";

const inAddress: Signal<string | undefined> = signal(undefined);
bindToAddress("chain", inAddress);

/** Whether all related runs are on one timeline. */
export const isChain: ReadonlySignal<boolean> = computed(() => inAddress.value !== undefined);
export function setChain(wanted: boolean): void {
  inAddress.value = wanted ? "1" : undefined;
}

const families = computed(() => familiesOf(openedRuns.value));
/** The current run's family; undefined if no related run is open. */
export const family: ReadonlySignal<Family | undefined> = computed(() =>
  currentRun.value === undefined ? undefined : families.value.get(currentRun.value)
);
/** Whether a related run is opened, or linked by the history. */
export const hasOthers = ({ model }: OpenRun): boolean =>
  family.value !== undefined || model.facts.links.some((link) => tieOfLink(link) !== undefined);

/** Undefined until it is loaded. */
export const chainTimeline: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(
  undefined,
);
effect(() => {
  if (isChain.value && chainTimeline.peek() === undefined) {
    void import("./timeline.tsx").then((
      { ChainTimeline },
    ) => (chainTimeline.value = ChainTimeline));
  }
});

/** Moves to an event of a run. The run becomes the current one. */
export function enter(run: OpenRun, eventId: number): void {
  if (currentRun.peek() === run) goTo(eventId);
  else showRun(run, eventId);
}

/** The run of the chain before or after the current one. */
function neighbor(by: 1 | -1): Piece | undefined {
  const run = currentRun.value;
  const pieces = isChain.value && run !== undefined
    ? family.value?.chains.get(run)?.pieces
    : undefined;
  return pieces?.[pieces.findIndex((piece) => piece.run === run) + by];
}

/** The first event of the current run in its chain. */
const firstHere = (): number => {
  const run = currentRun.value;
  const pieces = isChain.value && run !== undefined
    ? family.value?.chains.get(run)?.pieces
    : undefined;
  return pieces?.find((piece) => piece.run === run)?.first ?? 1;
};

/** At the start of the run, or of the chain if it is shown. */
export const isAtStart: ReadonlySignal<boolean> = computed(() =>
  position.value <= firstHere() && neighbor(-1) === undefined
);
export const isAtEnd: ReadonlySignal<boolean> = computed(() =>
  position.value >= length.value && neighbor(1) === undefined
);

/**
 * Moves one step across the boundary of the run if the chain is shown and the position is at the
 * boundary. Returns whether it did.
 */
export function crossRun(by: 1 | -1): boolean {
  const isThere = by === 1 ? position.peek() >= length.peek() : position.peek() <= firstHere();
  const next = isThere ? neighbor(by) : undefined;
  if (next === undefined) return false;
  const isPlaying = playing.peek();
  showRun(next.run, by === 1 ? next.first : next.run.model.lines.length);
  playing.value = isPlaying;
  return true;
}

/** Moves to the start or the end: of the run, or of the chain if it is shown. */
export function goToEnd(by: 1 | -1): void {
  playing.value = false;
  const run = currentRun.peek();
  const pieces = isChain.peek() && run !== undefined
    ? family.peek()?.chains.get(run)?.pieces
    : undefined;
  const last = pieces?.at(by === 1 ? -1 : 0);
  if (last === undefined) return goTo(by === 1 ? length.peek() : 1);
  enter(last.run, by === 1 ? last.run.model.lines.length : last.first);
}
