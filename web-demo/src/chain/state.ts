// Whether the timeline shows this run or all that hang together with it, and the way over the boundary between two runs. The timeline itself
// is loaded when it is wanted first.
import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { tieOfLink } from "../app/chain.ts";
import { familiesOf, type Family, type Piece } from "../app/family.ts";
import { bindToAddress } from "../app/router.ts";
import { currentRun, goTo, length, openedRuns, type OpenRun, playing, position, showRun } from "../app/state.ts";

const inAddress: Signal<string | undefined> = signal(undefined);
bindToAddress("chain", inAddress);

/** All that hang together are on one timeline. */
export const isChain: ReadonlySignal<boolean> = computed(() => inAddress.value !== undefined);
export function setChain(wanted: boolean): void {
  inAddress.value = wanted ? "1" : undefined;
}

const families = computed(() => familiesOf(openedRuns.value));
/** What hangs together with the current run; undefined: nothing that is open. */
export const family: ReadonlySignal<Family | undefined> = computed(() =>
  currentRun.value === undefined ? undefined : families.value.get(currentRun.value)
);
/** There is something to switch to: opened, or named by the history. */
export const hasOthers = ({ model }: OpenRun): boolean =>
  family.value !== undefined || model.facts.links.some((link) => tieOfLink(link) !== undefined);

/** Once it is loaded. */
export const chainTimeline: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(undefined);
effect(() => {
  if (isChain.value && chainTimeline.peek() === undefined) {
    void import("./timeline.tsx").then(({ ChainTimeline }) => (chainTimeline.value = ChainTimeline));
  }
});

/** To an event of a run, whichever is the current one. */
export function enter(run: OpenRun, eventId: number): void {
  if (currentRun.peek() === run) goTo(eventId);
  else showRun(run, eventId);
}

/** The part of the chain before or after the current run. */
function neighbour(by: 1 | -1): Piece | undefined {
  const run = currentRun.value;
  const pieces = isChain.value && run !== undefined ? family.value?.chains.get(run)?.pieces : undefined;
  return pieces?.[pieces.findIndex((piece) => piece.run === run) + by];
}

/** Where the current run's own part of its chain begins. */
const firstHere = (): number => {
  const run = currentRun.value;
  const pieces = isChain.value && run !== undefined ? family.value?.chains.get(run)?.pieces : undefined;
  return pieces?.find((piece) => piece.run === run)?.first ?? 1;
};

/** Nothing comes before, or after, the position: in the run or, where the chain is shown, in all of it. */
export const isAtStart: ReadonlySignal<boolean> = computed(() => position.value <= firstHere() && neighbour(-1) === undefined);
export const isAtEnd: ReadonlySignal<boolean> = computed(() => position.value >= length.value && neighbour(1) === undefined);

/** One step over the boundary of the run, where the position is at it and the chain is shown. Returns whether it was one. */
export function crossRun(by: 1 | -1): boolean {
  const isThere = by === 1 ? position.peek() >= length.peek() : position.peek() <= firstHere();
  const next = isThere ? neighbour(by) : undefined;
  if (next === undefined) return false;
  const goesOn = playing.peek();
  showRun(next.run, by === 1 ? next.first : next.run.model.lines.length);
  playing.value = goesOn;
  return true;
}

/** To the start or the end: of the run or, where the chain is shown, of all of it. */
export function goToEnd(by: 1 | -1): void {
  playing.value = false;
  const run = currentRun.peek();
  const pieces = isChain.peek() && run !== undefined ? family.peek()?.chains.get(run)?.pieces : undefined;
  const last = pieces?.at(by === 1 ? -1 : 0);
  if (last === undefined) return goTo(by === 1 ? length.peek() : 1);
  enter(last.run, by === 1 ? last.run.model.lines.length : last.first);
}
