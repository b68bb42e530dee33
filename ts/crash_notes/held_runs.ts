// Runs suspected of having crashed their process, and runs on hold because they did so again. Kept
// in a small file that outlives the process. The CLI can release a run while a process uses the
// file, so it is read again after each change.

/** Identifies a run, with its workflow type. */
export interface RunName {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
}

/** A run that was executing when its process died. */
export interface NotedRun extends RunName {
  /**
   * How often the task had waited outside of its realm before. Code that crashes the process does
   * so after the same number of waits.
   */
  readonly waits: number;
}

/** A run whose tasks are on hold until it is released. */
export interface HeldRun extends RunName {
  /** Number of consecutive deaths while a task of this run, and of no other run, was executing. */
  readonly deaths: number;
  /** When the run was put on hold. */
  readonly since: Date;
}

/** A small text that survives the process. */
export interface NoteText {
  /** Returns "" before the first write. */
  read(): string;
  /** Replaces the text atomically: a reader gets the old text or the new one. */
  write(text: string): void;
  /** Returns a value that changes with the text. */
  version(): string;
}

/** A run that may have crashed the process. */
interface Suspect extends RunName {
  readonly deaths: number;
  /** Sum of the weights of these deaths; the run is held at HELD_WEIGHT. */
  readonly weight: number;
  /** Waits of its task before the last death; not written by earlier versions. */
  readonly waits?: number;
}

interface State {
  readonly suspects?: readonly Suspect[];
  readonly held?: readonly (RunName & { readonly deaths: number; readonly since: number })[];
}

/** Weight at which a run is held: two deaths of weight 1. */
const HELD_WEIGHT = 2;
/**
 * V8 needs time to run out of memory and to report it. An earlier death is more likely an external
 * kill during a short task, so it weighs less. A run that crashes the process at once is held
 * later.
 */
const CLEAR_MS = 100;
const UNCLEAR_WEIGHT = 0.25;
/** Maximum number of suspects. Beyond it the oldest are removed. */
const MAX_SUSPECTS = 1000;

export class HeldRuns {
  readonly #note: NoteText;
  #version = "none";
  #suspects = new Map<string, Suspect>();
  #held = new Map<string, HeldRun>();

  constructor(note: NoteText) {
    this.#note = note;
  }

  #refresh(): void {
    const version = this.#note.version();
    if (version === this.#version) return;
    this.#version = version;
    let state: State = {};
    try {
      state = JSON.parse(this.#note.read() || "{}") as State;
    } catch {
      // Damaged file: start without suspects. Runs that crash the process become suspects again.
    }
    this.#suspects = new Map(list(state.suspects).map((run) => [run.runId, run]));
    this.#held = new Map(
      list(state.held).map((run) => [run.runId, { ...run, since: new Date(run.since) }]),
    );
  }

  #save(): void {
    const state: State = {
      suspects: [...this.#suspects.values()].slice(-MAX_SUSPECTS),
      held: [...this.#held.values()].map((run) => ({ ...run, since: run.since.getTime() })),
    };
    try {
      this.#note.write(JSON.stringify(state));
    } catch {
      // For example a full disk: the state is then known to this process only.
    }
    this.#version = this.#note.version();
  }

  /** Returns all held runs. */
  list(): HeldRun[] {
    this.#refresh();
    return [...this.#held.values()];
  }

  get(runId: string): HeldRun | undefined {
    this.#refresh();
    return this.#held.get(runId);
  }

  /** Number of deaths while the run executed alone; undefined if it is not suspected. */
  deathsOf(runId: string): number | undefined {
    return this.#suspects.get(runId)?.deaths;
  }

  /**
   * Records that the process died while `runs` were executing. `aloneMs`: for how long at least a
   * single run had executed.
   */
  died(runs: readonly NotedRun[], aloneMs: number, now: number): void {
    this.#refresh();
    const alone = runs.length === 1;
    for (const { workflowId, runId, workflowType, waits } of runs) {
      if (this.#held.has(runId)) continue;
      const before = this.#suspects.get(runId);
      const deaths = (before?.deaths ?? 0) + (alone ? 1 : 0);
      const weight = (before?.weight ?? 0) +
        (!alone ? 0 : aloneMs >= CLEAR_MS ? 1 : UNCLEAR_WEIGHT);
      const run = { workflowId, runId, workflowType, deaths };
      this.#suspects.delete(runId);
      if (weight >= HELD_WEIGHT) this.#held.set(runId, { ...run, since: new Date(now) });
      else this.#suspects.set(runId, { ...run, weight, waits });
    }
    this.#save();
  }

  /**
   * Records that a task of the run reached another wait, after `waits` of them. A run past the
   * place of its last death is no longer suspected.
   */
  computed(runId: string, waits: number): void {
    const suspect = this.#suspects.get(runId);
    if (suspect !== undefined && waits >= (suspect.waits ?? Infinity)) this.cleared(runId);
  }

  /** Records that a task of the run ended and the process survived. */
  cleared(runId: string): void {
    this.#refresh();
    if (this.#suspects.delete(runId)) this.#save();
  }

  /** Removes runs that are closed. */
  keepOnly(isOpen: (run: RunName) => boolean): void {
    this.#refresh();
    const gone = [...this.#suspects.values(), ...this.#held.values()].filter((run) => !isOpen(run));
    for (const { runId } of gone) {
      this.#suspects.delete(runId);
      this.#held.delete(runId);
    }
    if (gone.length > 0) this.#save();
  }

  /**
   * Releases a run, or without a run id all held runs of the workflow. Returns the released runs.
   */
  release(workflowId: string, runId?: string): HeldRun[] {
    const released = this.list().filter((run) =>
      run.workflowId === workflowId && (runId === undefined || run.runId === runId)
    );
    for (const run of released) this.#held.delete(run.runId);
    if (released.length > 0) this.#save();
    return released;
  }
}

function list<T extends RunName>(runs: readonly T[] | undefined): readonly T[] {
  return Array.isArray(runs)
    ? runs.filter((run) => typeof run?.runId === "string" && typeof run.workflowId === "string")
    : [];
}

/** Returns why a run is held and how to release it. */
export function describeHeld({ workflowId, deaths }: HeldRun): string {
  return `held: the process died ${deaths} times in a row while it ran a workflow task of this run, so its tasks are on hold. ` +
    `Fix the code, then release the run: temporalex workflow release --workflow-id ${
      quoted(workflowId)
    }`;
}

const quoted = (text: string): string =>
  /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
