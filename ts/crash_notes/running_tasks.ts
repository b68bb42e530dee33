// Records which runs execute workflow tasks, so that the next process knows them if this one dies:
// V8 ends the process when workflow code exhausts memory, and the open run would do so at each
// start. Runs that were executing are suspected; a suspected run executes alone, so that another
// death names one run. Two consecutive deaths alone hold a run (held_runs.ts); a kill from outside
// looks the same.
import { realTimers, type Timers } from "../base/timers.ts";
import type { HeldRun, HeldRuns, NotedRun, RunName } from "./held_runs.ts";

/**
 * A suspected run with a recorded death waits this long after the start: a process that is killed
 * as soon as it starts is not killed by the run.
 */
const WAIT_MS = 1000;

/** Interval at which the note is updated with the time for which a run has executed alone. */
const TICK_MS = 25;

/** Where executing runs are recorded. Written often, so a write is one system call. */
export interface WorkNote {
  /** Returns what the previous process left, or "". */
  read(): string;
  write(text: string): void;
  /** Removes the note. */
  remove(): void;
}

interface Waiting {
  readonly run: NotedRun;
  readonly since: number;
  readonly admit: () => void;
}

export interface RunningTasksOptions {
  readonly work: WorkNote;
  /** Without it no run is suspected or held; only the runs that died are reported. */
  readonly held?: HeldRuns | undefined;
  /** Closed runs are no longer suspected. */
  readonly isOpen?: (run: RunName) => boolean;
  readonly timers?: Timers;
}

export class RunningTasks {
  readonly #work: WorkNote;
  readonly #held: HeldRuns | undefined;
  readonly #timers: Timers;
  readonly #startedAt: number;
  /**
   * Executing runs by run id. `name` is the run as the note has it, made once because the note is
   * written often; `count` is its number of tasks.
   */
  readonly #open = new Map<
    string,
    { readonly run: NotedRun; readonly name: string; count: number }
  >();
  #waiting: Waiting[] = [];
  /** The suspected run that executes alone. */
  #alone: string | undefined;
  #dirty = false;
  #stopTimer = () => {};
  #stopTick = () => {};
  #closed = false;
  #died: readonly RunName[];
  #toldHeld = false;

  constructor({ work, held, isOpen = () => true, timers = realTimers }: RunningTasksOptions) {
    this.#timers = timers;
    this.#startedAt = timers.now();
    this.#work = work;
    this.#held = held;
    const { runs, ms } = contentOf(work.read());
    this.#died = runs.map(({ waits: _, ...run }) => run);
    this.#held?.keepOnly(isOpen);
    if (runs.length === 0) return;
    this.#held?.died(runs.filter(isOpen), ms, Date.now());
    this.#write("\n");
  }

  /**
   * Returns the runs that were executing when the previous process died; only at the first call.
   */
  takeDied(): readonly RunName[] {
    const died = this.#died;
    this.#died = [];
    return died;
  }

  /** Returns the runs that are held since the start; only at the first call. */
  takeHeld(): readonly HeldRun[] {
    if (this.#toldHeld) return [];
    this.#toldHeld = true;
    return this.#held?.list() ?? [];
  }

  /** Returns the run if its tasks are on hold. */
  held(runId: string): HeldRun | undefined {
    return this.#held?.get(runId);
  }

  /** Returns the run if a task of it is executing in a realm. */
  computing(runId: string): NotedRun | undefined {
    return this.#open.get(runId)?.run;
  }

  /**
   * Announces a task that is about to enter a realm: at once (undefined), or when the promise
   * resolves. The caller then calls `leave`.
   */
  enter({ workflowId, runId, workflowType }: RunName, waits = 0): Promise<void> | undefined {
    const run = { workflowId, runId, workflowType, waits };
    if (
      this.#waiting.length === 0 && this.#alone === undefined && this.#deathsOf(run) === undefined
    ) {
      this.#admit(run);
      return undefined;
    }
    return new Promise((admit) => {
      this.#waiting.push({ run, admit, since: this.#timers.now() });
      this.#next();
    });
  }

  /**
   * Suspends the task while it waits for something outside of its realm. It enters again after the
   * wait, with the number of waits.
   */
  pause(run: NotedRun): void {
    this.#held?.computed(run.runId, run.waits);
    this.leave(run, false);
  }

  /**
   * Records that the task ended and the process survived. `clears`: the task executed the code that
   * the run is suspected of.
   */
  leave({ runId }: RunName, clears: boolean): void {
    const open = this.#open.get(runId);
    if (open !== undefined && --open.count === 0) this.#open.delete(runId);
    if (clears) this.#held?.cleared(runId);
    if (this.#alone === runId) this.#alone = undefined;
    // Written at once: a process that dies while the note is empty was killed from outside. While
    // other runs execute, the note may name too many; then no run counts as alone.
    if (this.#open.size === 0) this.#note();
    this.#next();
  }

  #deathsOf({ runId }: RunName): number | undefined {
    return this.#held?.deathsOf(runId);
  }

  #admit(run: NotedRun): void {
    const open = this.#open.get(run.runId);
    if (open === undefined) {
      this.#open.set(run.runId, { run, name: nameInNote(run), count: 1 });
    } else open.count++;
    if (this.#dirty) return;
    this.#dirty = true;
    // Before the realm gets the task: its messages leave in a microtask that is queued after this
    // one.
    queueMicrotask(() => this.#dirty && this.#note());
  }

  /** Admits waiting tasks that may enter, in order of arrival. */
  #next(): void {
    this.#stopTimer();
    let later = Infinity;
    for (let i = 0; i < this.#waiting.length;) {
      const { run, admit } = this.#waiting[i]!;
      if (this.#alone !== undefined) return;
      const deaths = this.#deathsOf(run);
      const wait = deaths !== undefined && deaths > 0
        ? this.#startedAt + WAIT_MS - this.#timers.now()
        : 0;
      if (wait > 0) {
        later = Math.min(later, wait);
        i++;
        continue;
      }
      if (deaths !== undefined) {
        // Tasks in the realm end first, and later ones do not overtake.
        if (this.#open.size > 0) return;
        this.#alone = run.runId;
      }
      this.#waiting.splice(i, 1);
      this.#admit(run);
      admit();
    }
    if (later < Infinity && !this.#closed) {
      this.#stopTimer = this.#timers.after(later, () => this.#next());
    }
  }

  #note(): void {
    this.#dirty = false;
    if (this.#closed) return;
    this.#stopTick();
    this.#write(this.#open.size === 0 ? "\n" : this.#text(0));
    if (this.#open.size === 1) this.#count(this.#timers.now());
  }

  /** One line of JSON. `ms`: for how long a single run has executed alone. */
  #text(ms: number): string {
    const names = Array.from(this.#open.values(), ({ name }) => name);
    return `{"runs":[${names.join(",")}],"ms":${ms}}\n`;
  }

  /** Updates the time for which the run has executed alone, until the next note. */
  #count(since: number): void {
    const tick = () => {
      if (this.#open.size !== 1 || this.#closed) return;
      this.#write(this.#text(Math.round(this.#timers.now() - since)));
      this.#count(since);
    };
    // The realm keeps the process alive, not the note.
    this.#stopTick = this.#timers.after(TICK_MS, tick, true);
  }

  #write(text: string): void {
    try {
      this.#work.write(text);
    } catch {
      // For example a full disk: executing workflows matters more than the note.
    }
  }

  /** Removes the note: a process that exits normally was not crashed by its runs. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopTimer();
    this.#stopTick();
    for (const { admit } of this.#waiting.splice(0)) admit();
    this.#work.remove();
  }
}

function nameInNote({ workflowId, runId, workflowType, waits }: NotedRun): string {
  return JSON.stringify([workflowId, runId, workflowType, ...(waits > 0 ? [waits] : [])]);
}

/**
 * Merges the notes of several processes: all their runs, without the time alone. Returns "" if no
 * process died while executing.
 */
export function joinedNotes(texts: readonly string[]): string {
  const names = new Set(
    texts.flatMap((text) => contentOf(text).runs).map((run) => nameInNote({ ...run, waits: 0 })),
  );
  return names.size === 0 ? "" : `{"runs":[${[...names].join(",")}],"ms":0}\n`;
}

/** Reads the first line of a note; the rest is left over from longer notes. */
function contentOf(text: string): { runs: NotedRun[]; ms: number } {
  try {
    const { runs, ms } = JSON.parse(text.slice(0, text.indexOf("\n"))) as {
      runs: [string?, string?, string?, number?][];
      ms: number;
    };
    const named = runs.map(([workflowId = "", runId = "", workflowType = "", waits = 0]) => (
      { workflowId, runId, workflowType, waits }
    ));
    return { runs: named, ms: Number(ms) };
  } catch {
    return { runs: [], ms: 0 };
  }
}
