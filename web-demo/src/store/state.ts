// Shared state of the page: signals, and the functions that write them. Components never keep their
// own copy of a run, position or selection, so that all parts of the page agree.
import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ChangedValue, DebugSession, SessionProblem, SessionView } from "temporalex/debug";
import type { CodeSet } from "./code_set.ts";
import type { RunItem, RunModel } from "./run_model.ts";

/**
 * Result of replaying the run against its code. During a new replay `before` is the previous
 * verdict. `said` is set as soon as it is known whether the new code replays; lines and values are
 * still those of the previous code then.
 */
export type Verdict =
  | { readonly state: "none" }
  | { readonly state: "waiting for permission" }
  | { readonly state: "replaying"; readonly before?: Verdict; readonly said?: FirstVerdict }
  | { readonly state: "replays"; readonly tookMs: number }
  | { readonly state: "diverges" | "fails"; readonly problem: SessionProblem }
  /** The code could not run: it does not have the workflow, or a module throws. */
  | { readonly state: "no replay"; readonly message: string; readonly at?: RefusedAt }
  | {
    readonly state: "not parsed";
    readonly file: string;
    readonly line: number;
    readonly message: string;
    readonly before?: Verdict;
  };

/** An error in code that cannot be loaded, with its place. */
export interface RefusedAt {
  readonly file: string;
  /** From 1; 0 for the whole file. */
  readonly line: number;
  readonly message: string;
}

/** Verdict of the first replay, which records no lines and values and is faster. */
export type FirstVerdict = "replays" | "diverges";

/** Facts of a first replay whose verdict is "replays". */
export interface FirstReplay {
  readonly events: number;
  readonly activations: number;
  /** Number of differences that do not fail the replay. */
  readonly warnings: number;
}

/** One opened history, with its code and the results of its replay. */
export interface OpenRun {
  /**
   * Identifies the run in the address and in the browser's storage: "sample:counter", or a digest
   * of the bytes.
   */
  readonly key: string;
  /** Name of the file. */
  readonly name: string;
  /**
   * The history that is shown and replayed: content of the file, or the decoded history if a codec
   * has decoded its values.
   */
  readonly bytes: Uint8Array;
  /** Content of the file if `bytes` is decoded. Decoded values are never stored. */
  readonly encoded?: Uint8Array | undefined;
  /** Events and items of the history, without code. */
  readonly model: RunModel;
  /** The workflow code to replay against. */
  readonly code: Signal<CodeSet | undefined>;
  /** Result of the last replay; it stays during the next one. */
  readonly session: Signal<DebugSession | undefined>;
  readonly verdict: Signal<Verdict>;
  /**
   * Values that differ between code and history although the replay passes, because replay does not
   * compare them.
   */
  readonly changed: Signal<readonly ChangedValue[]>;
}

export type Room = "open" | "runs" | "live";
/** The pane that is shown if there is room for only one. */
export type Pane = "code" | "events" | "why";
/** Unit of the play and step buttons. */
export type StepUnit = "fiber" | "line" | "command" | "event" | "task";

export const room: Signal<Room> = signal<Room>("open");
export const openedRuns: Signal<readonly OpenRun[]> = signal<readonly OpenRun[]>([]);
export const currentRun: Signal<OpenRun | undefined> = signal<OpenRun | undefined>(undefined);
/** The id of the last event that has happened: 1 to the number of events. */
export const position: Signal<number> = signal(1);
/** The item whose details are shown; undefined for the one at the position. */
export const selected: Signal<RunItem | undefined> = signal<RunItem | undefined>(undefined);
/**
 * Path of the file in the code pane; undefined for the file with the line at which the run waits.
 */
export const file: Signal<string | undefined> = signal<string | undefined>(undefined);
export const pane: Signal<Pane> = signal<Pane>("code");
/** True on the first screen, where a sample plays. The address does not name that run. */
export const intro: Signal<boolean> = signal(false);
export const stepUnit: Signal<StepUnit> = signal<StepUnit>("event");
export const playing: Signal<boolean> = signal(false);

/** Number of events of the current run; 0 without a run. */
export const length: ReadonlySignal<number> = computed(() =>
  currentRun.value?.model.lines.length ?? 0
);
/** State of the replayed code at the position; undefined without a replay. */
export const shownView: ReadonlySignal<SessionView | undefined> = computed(() => {
  const session = currentRun.value?.session.value;
  return session === undefined ? undefined : session.viewAt(clamp(position.value, session.length));
});
/** The selected item, or the one at the position. */
export const shownItem: ReadonlySignal<RunItem | undefined> = computed(() =>
  selected.value ?? currentRun.value?.model.itemOf(position.value)
);

const clamp = (wanted: number, last: number) =>
  Math.max(1, Math.min(last, Math.round(wanted) || 1));

/** The changed value of one of these events. */
export const changedAt = (
  { changed }: OpenRun,
  eventIds: readonly number[],
): ChangedValue | undefined => changed.value.find(({ eventId }) => eventIds.includes(eventId));

/** Number of values that differ. */
export const countChanges = (changed: readonly ChangedValue[]): number =>
  changed.reduce((n, { differences }) => n + differences.length, 0);

/** The current run until the user changes its position. */
const untouched: Signal<OpenRun | undefined> = signal<OpenRun | undefined>(undefined);

/** Set if a command sends code for its runs, which can arrive after them. */
export const codeFollows = { current: false };

/**
 * The position at which a run is opened: at the divergence or failure of its code, at the start if
 * it is closed and has code to step through, otherwise at the last event.
 */
function firstPosition({ model, verdict, code }: OpenRun): number {
  const said = verdict.peek();
  if ("problem" in said) return said.problem.position;
  const hasCode = code.peek() !== undefined || codeFollows.current;
  return hasCode && model.facts.status !== "Running" ? 1 : model.lines.length;
}

/** After a replay, goes to the divergence unless the user has changed the position. */
export function showProblem(run: OpenRun): void {
  if (untouched.peek() === run && currentRun.peek() === run && "problem" in run.verdict.peek()) {
    goTo(firstPosition(run));
  }
}

/** Goes to a position of the current run, clamped to its events. */
export function goTo(wanted: number): void {
  if (length.value === 0) return;
  batch(() => {
    untouched.value = undefined;
    position.value = clamp(wanted, length.value);
    selected.value = undefined;
  });
}

/** Selects an item, and goes to its start unless the position is within it. */
export function selectItem(item: RunItem): void {
  batch(() => {
    if (position.value < item.from || position.value > item.to) goTo(item.from);
    selected.value = item;
  });
}

/** Makes a run the current one. `at`: the position; default: `firstPosition`. */
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

/** A run without code. */
export const makeRun = (
  key: string,
  name: string,
  bytes: Uint8Array,
  model: RunModel,
): OpenRun => ({
  key,
  name,
  bytes,
  model,
  code: signal<CodeSet | undefined>(undefined),
  session: signal<DebugSession | undefined>(undefined),
  verdict: signal<Verdict>({ state: "none" }),
  changed: signal<readonly ChangedValue[]>([]),
});

/** Adds a run to the list, unless one with the same key is in it. */
export function addRun(run: OpenRun): void {
  if (!openedRuns.value.some(({ key }) => key === run.key)) {
    openedRuns.value = [...openedRuns.value, run];
  }
}

/** Removes a run from the list; the one before it becomes current. */
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
