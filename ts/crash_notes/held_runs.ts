// Runs that are suspected of having ended their process, and those that are held because they did it again. Kept in a small file of its own
// that outlives the process; the command line may take a run out of it while a process works with it, so it is read again when it changed.

/** Which run, and what it is. */
export interface RunName {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
}

/** A run that was computing when its process died. */
export interface NotedRun extends RunName {
  /** How often the task had waited outside of its realm before. Code that ends the process does so at the same place again. */
  readonly waits: number;
}

/** A run whose tasks are given to no worker until it is released. */
export interface HeldRun extends RunName {
  /** How often in a row the process died while a task of it, and of no other run, was running. */
  readonly deaths: number;
  /** Since when. */
  readonly since: Date;
}

/** A small text that survives the process. */
export interface NoteText {
  /** "" where there is none. */
  read(): string;
  /** Replaces it: whoever reads gets the old text or the new one. */
  write(text: string): void;
  /** Changes with the text. */
  version(): string;
}

/** A run on which the process may have died. */
interface Suspect extends RunName {
  readonly deaths: number;
  /** What these deaths say against it. */
  readonly weight: number;
  /** The waits of its task before the last death; left out by earlier versions. */
  readonly waits?: number;
}

interface State {
  readonly suspects?: readonly Suspect[];
  readonly held?: readonly (RunName & { readonly deaths: number; readonly since: number })[];
}

/** The weight at which a run is held: two deaths that are clear. */
const HELD_WEIGHT = 2;
/**
 * V8 needs a while to come to such an end, and to say so. A death before that is more likely a kill from outside that met a short task: it
 * weighs less, and a run that ends the process in no time is held later.
 */
const CLEAR_MS = 100;
const UNCLEAR_WEIGHT = 0.25;
/** Suspects that are remembered, the newest: of more, the oldest are given the benefit of the doubt. */
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
      // Damaged: the runs get another chance, and show what they are by themselves.
    }
    this.#suspects = new Map(list(state.suspects).map((run) => [run.runId, run]));
    this.#held = new Map(list(state.held).map((run) => [run.runId, { ...run, since: new Date(run.since) }]));
  }

  #save(): void {
    const state: State = {
      suspects: [...this.#suspects.values()].slice(-MAX_SUSPECTS),
      held: [...this.#held.values()].map((run) => ({ ...run, since: run.since.getTime() })),
    };
    try {
      this.#note.write(JSON.stringify(state));
    } catch {
      // A full disk, for one: it is known to this process then, and to no other.
    }
    this.#version = this.#note.version();
  }

  /** All that are held. */
  list(): HeldRun[] {
    this.#refresh();
    return [...this.#held.values()];
  }

  get(runId: string): HeldRun | undefined {
    this.#refresh();
    return this.#held.get(runId);
  }

  /** How often the process died on it alone; undefined where it is not suspected. */
  deathsOf(runId: string): number | undefined {
    return this.#suspects.get(runId)?.deaths;
  }

  /** The process died while these were running; a run that was alone, for how many milliseconds at least. */
  died(runs: readonly NotedRun[], aloneMs: number, now: number): void {
    this.#refresh();
    const alone = runs.length === 1;
    for (const { workflowId, runId, workflowType, waits } of runs) {
      if (this.#held.has(runId)) continue;
      const before = this.#suspects.get(runId);
      const deaths = (before?.deaths ?? 0) + (alone ? 1 : 0);
      const weight = (before?.weight ?? 0) + (!alone ? 0 : aloneMs >= CLEAR_MS ? 1 : UNCLEAR_WEIGHT);
      const run = { workflowId, runId, workflowType, deaths };
      this.#suspects.delete(runId);
      if (weight >= HELD_WEIGHT) this.#held.set(runId, { ...run, since: new Date(now) });
      else this.#suspects.set(runId, { ...run, weight, waits });
    }
    this.#save();
  }

  /** A task of it has computed up to a further wait, after `waits` of them. Past the place of its last death it is not suspected any more. */
  computed(runId: string, waits: number): void {
    const suspect = this.#suspects.get(runId);
    if (suspect !== undefined && waits >= (suspect.waits ?? Infinity)) this.cleared(runId);
  }

  /** A task of it has ended with the process alive. */
  cleared(runId: string): void {
    this.#refresh();
    if (this.#suspects.delete(runId)) this.#save();
  }

  /** Takes out those that have ended meanwhile. */
  keepOnly(isOpen: (run: RunName) => boolean): void {
    this.#refresh();
    const gone = [...this.#suspects.values(), ...this.#held.values()].filter((run) => !isOpen(run));
    for (const { runId } of gone) {
      this.#suspects.delete(runId);
      this.#held.delete(runId);
    }
    if (gone.length > 0) this.#save();
  }

  /** Lets a run go on; without a run id every held run of the workflow. Answers those that were held. */
  release(workflowId: string, runId?: string): HeldRun[] {
    const released = this.list().filter((run) => run.workflowId === workflowId && (runId === undefined || run.runId === runId));
    for (const run of released) this.#held.delete(run.runId);
    if (released.length > 0) this.#save();
    return released;
  }
}

function list<T extends RunName>(runs: readonly T[] | undefined): readonly T[] {
  return Array.isArray(runs) ? runs.filter((run) => typeof run?.runId === "string" && typeof run.workflowId === "string") : [];
}

/** Why a run is held, and what to do. */
export function describeHeld({ workflowId, deaths }: HeldRun): string {
  return `held: the process died ${deaths} times in a row while it ran a workflow task of this run, so its tasks are on hold. ` +
    `Fix the code, then release the run: temporalex workflow release --workflow-id ${quoted(workflowId)}`;
}

const quoted = (text: string): string => /^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
