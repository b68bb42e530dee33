// What the page knows: signals that every part reads, and the few functions that write them. A part shows what is here and never keeps a
// position, a selection or a run of its own, so that all parts always show the same.
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ChangedValue, DebugSession, SessionProblem, SessionView } from "temporalex/debug";
import type { CodeSet } from "../realm/code_set.ts";
import type { RunItem, RunModel } from "./run_model.ts";

/**
 * What a replay of the run against its code said. While a new replay runs, `before` has what the last one said; once it is known whether
 * the new code replays, `said` has that, and what is shown of lines and values is still of the code before.
 */
export type Verdict =
  | { readonly state: "none" }
  | { readonly state: "waiting for permission" }
  | { readonly state: "replaying"; readonly before?: Verdict; readonly said?: FirstVerdict }
  | { readonly state: "replays"; readonly tookMs: number }
  | { readonly state: "diverges" | "fails"; readonly problem: SessionProblem }
  /** The code could not be run at all: no such workflow in it, a module that throws. */
  | { readonly state: "no replay"; readonly message: string; readonly at?: RefusedAt }
  | {
    readonly state: "not parsed";
    readonly file: string;
    readonly line: number;
    readonly message: string;
    readonly before?: Verdict;
  };

/** Where code is wrong that cannot be loaded, and what is wrong there. */
export interface RefusedAt {
  readonly file: string;
  /** From 1; 0: the file as a whole. */
  readonly line: number;
  readonly message: string;
}

/** What the replay without lines and values says, which is over first. */
export type FirstVerdict = "replays" | "diverges";

/** One opened history, with what was found out about it. */
export interface OpenRun {
  /** Tells runs apart in the URL and in what the browser keeps: "sample:counter", or a digest of the bytes. */
  readonly key: string;
  /** Of the file. */
  readonly name: string;
  /** Of the file, or (where a codec has decoded its values) of the decoded history. What is shown and replayed. */
  readonly bytes: Uint8Array;
  /** What the file holds, where a codec has decoded its values: they are in this tab's memory alone. */
  readonly encoded?: Uint8Array | undefined;
  /** Needs no code. */
  readonly model: RunModel;
  /** The files beside it. */
  readonly code: Signal<CodeSet | undefined>;
  /** Once replayed. The last one stays while a new replay runs. */
  readonly session: Signal<DebugSession | undefined>;
  readonly verdict: Signal<Verdict>;
  /** Of the last session: what the code gives otherwise than the history has it, and no replay compares. */
  readonly changed: Signal<readonly ChangedValue[]>;
}

export type Room = "open" | "runs" | "live";
/** Which pane is in sight where there is room for one. */
export type Pane = "code" | "events" | "why";
/** What the play and step buttons move by. */
export type StepUnit = "fiber" | "line" | "command" | "event" | "task";

export const room: Signal<Room> = signal<Room>("open");
export const openedRuns: Signal<readonly OpenRun[]> = signal<readonly OpenRun[]>([]);
export const currentRun: Signal<OpenRun | undefined> = signal<OpenRun | undefined>(undefined);
/** The id of the last event that has happened: 1 to the number of events. */
export const position: Signal<number> = signal(1);
/** The thing whose details are shown; undefined: the one at the position. */
export const selected: Signal<RunItem | undefined> = signal<RunItem | undefined>(undefined);
/** Path of the file in the code pane; undefined: the one with the parked line. */
export const file: Signal<string | undefined> = signal<string | undefined>(undefined);
export const pane: Signal<Pane> = signal<Pane>("code");
/** The first screen: a sample plays by itself, and the address says nothing of it. */
export const intro: Signal<boolean> = signal(false);
export const stepUnit: Signal<StepUnit> = signal<StepUnit>("event");
export const playing: Signal<boolean> = signal(false);

/** Number of events of the current run; 0: none is open. */
export const length: ReadonlySignal<number> = computed(() => currentRun.value?.model.lines.length ?? 0);
/** What the replay knows of the position; undefined without one. */
export const shownView: ReadonlySignal<SessionView | undefined> = computed(() => {
  const session = currentRun.value?.session.value;
  return session === undefined ? undefined : session.viewAt(clamp(position.value, session.length));
});
/** The selected thing, or the one at the position. */
export const shownItem: ReadonlySignal<RunItem | undefined> = computed(() =>
  selected.value ?? currentRun.value?.model.itemOf(position.value)
);

const clamp = (wanted: number, last: number) => Math.max(1, Math.min(last, Math.round(wanted) || 1));

/** The changed value of one of these events. */
export const changedAt = ({ changed }: OpenRun, eventIds: readonly number[]): ChangedValue | undefined =>
  changed.value.find(({ eventId }) => eventIds.includes(eventId));

/** How many values that are. */
export const countChanges = (changed: readonly ChangedValue[]): number =>
  changed.reduce((n, { differences }) => n + differences.length, 0);

/** The current run while its position is where the page put it: the reader has not moved yet. */
const untouched: Signal<OpenRun | undefined> = signal<OpenRun | undefined>(undefined);

/** Where a run is shown first: where it parts from its code or fails there, an open one where it stands, any other at its start. */
function firstPosition({ model, verdict }: OpenRun): number {
  const said = verdict.peek();
  if ("problem" in said) return said.problem.position;
  return model.facts.status === "Running" ? model.lines.length : 1;
}

/** After a replay: to the place where code and history part, unless the reader has moved already. */
export function showProblem(run: OpenRun): void {
  if (untouched.peek() === run && currentRun.peek() === run && "problem" in run.verdict.peek()) goTo(firstPosition(run));
}

/** To a position of the current run; one that it does not have becomes its nearest. The router writes it into the address. */
export function goTo(wanted: number): void {
  if (length.value === 0) return;
  batch(() => {
    untouched.value = undefined;
    position.value = clamp(wanted, length.value);
    selected.value = undefined;
  });
}

/** Shows a thing, and goes to where it began unless the position is within it. */
export function selectItem(item: RunItem): void {
  batch(() => {
    if (position.value < item.from || position.value > item.to) goTo(item.from);
    selected.value = item;
  });
}

/** Makes a run the current one. `at`: a position; default: where it is shown first. */
export function showRun(run: OpenRun, at?: number): void {
  batch(() => {
    currentRun.value = run;
    file.value = undefined;
    playing.value = false;
    room.value = "open";
    goTo(at ?? firstPosition(run));
    untouched.value = at === undefined ? run : undefined;
  });
}

/** A run of which nothing is known yet but its history. */
export const makeRun = (key: string, name: string, bytes: Uint8Array, model: RunModel): OpenRun => ({
  key,
  name,
  bytes,
  model,
  code: signal<CodeSet | undefined>(undefined),
  session: signal<DebugSession | undefined>(undefined),
  verdict: signal<Verdict>({ state: "none" }),
  changed: signal<readonly ChangedValue[]>([]),
});

/** Puts a run into the list, unless one of the same key is there. */
export function addRun(run: OpenRun): void {
  if (!openedRuns.value.some(({ key }) => key === run.key)) openedRuns.value = [...openedRuns.value, run];
}

/** Takes a run out of the list; the one before it becomes the current one. */
export function closeRun(run: OpenRun): void {
  batch(() => {
    const at = openedRuns.value.indexOf(run);
    const rest = openedRuns.value.filter((other) => other !== run);
    openedRuns.value = rest;
    if (currentRun.value !== run) return;
    const next = rest[Math.max(0, at - 1)];
    if (next === undefined) currentRun.value = undefined;
    else showRun(next);
  });
}
