// Which runs' workflow tasks are running, written down so that the next process knows it if this one dies: V8 ends the whole process when
// workflow code asks for more memory than there can be, and the open run would do that at each start. After a death the runs that were
// running are suspected. A suspected run's task runs alone, so that another death names one run; a task that ends clears its run.
//
// What is counted against a run are deaths in which it was alone, in a row: two of them hold it (held_runs.ts). A process that is killed
// from outside looks the same. So the note is exact about "alone" and says for how long, because most tasks are too short for a kill to
// meet them twice; and a run with a death against it waits a moment after the start: what kills a process as soon as it starts does not
// meet it.
import { realTimers, type Timers } from "../base/timers.ts";
import type { HeldRun, HeldRuns, NotedRun, RunName } from "./held_runs.ts";

/** A suspected run with a death against it waits so long after the start. */
const WAIT_MS = 1000;

/** How often the note says for how long a run has been alone. */
const TICK_MS = 25;

/** Where the runs in work are noted: written often, so it costs a system call and no more. */
export interface WorkNote {
  /** What the process before left; "" where it left nothing. */
  read(): string;
  write(text: string): void;
  /** Removes it: there is nothing to tell. */
  remove(): void;
}

interface Waiting {
  readonly run: NotedRun;
  readonly since: number;
  readonly admit: () => void;
}

export interface RunningTasksOptions {
  readonly work: WorkNote;
  /** Without it nothing is suspected or held, and it only reports what died. */
  readonly held?: HeldRuns | undefined;
  /** Runs that have ended are suspected no more. */
  readonly isOpen?: (run: RunName) => boolean;
  readonly timers?: Timers;
}

export class RunningTasks {
  readonly #work: WorkNote;
  readonly #held: HeldRuns | undefined;
  readonly #timers: Timers;
  readonly #startedAt: number;
  /** Runs whose code computes: how the note names each, written once because the note is written often, and with how many tasks. */
  readonly #open = new Map<string, { readonly run: NotedRun; readonly name: string; count: number }>();
  #waiting: Waiting[] = [];
  /** The suspected run that is in the realm alone. */
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

  /** Runs whose tasks were running when the process before this one died: told to the first who asks. */
  takeDied(): readonly RunName[] {
    const died = this.#died;
    this.#died = [];
    return died;
  }

  /** Runs that are held since the start: told to the first who asks. */
  takeHeld(): readonly HeldRun[] {
    if (this.#toldHeld) return [];
    this.#toldHeld = true;
    return this.#held?.list() ?? [];
  }

  /** The run's tasks wait for its release. */
  held(runId: string): HeldRun | undefined {
    return this.#held?.get(runId);
  }

  /** The run, if a task of it is in a realm and computes. */
  computing(runId: string): NotedRun | undefined {
    return this.#open.get(runId)?.run;
  }

  /** A task of the run is about to enter a realm: now (undefined), or when its turn comes. What enters calls `leave`. */
  enter({ workflowId, runId, workflowType }: RunName, waits = 0): Promise<void> | undefined {
    const run = { workflowId, runId, workflowType, waits };
    if (this.#waiting.length === 0 && this.#alone === undefined && this.#deathsOf(run) === undefined) {
      this.#admit(run);
      return undefined;
    }
    return new Promise((admit) => {
      this.#waiting.push({ run, admit, since: this.#timers.now() });
      this.#next();
    });
  }

  /** The task waits for something outside of its realm, and enters again after the wait, with the waits counted. */
  pause(run: NotedRun): void {
    this.#held?.computed(run.runId, run.waits);
    this.leave(run, false);
  }

  /** The task has ended, and the process lives; `clears`: it is one that would have done again what it is suspected of. */
  leave({ runId }: RunName, clears: boolean): void {
    const open = this.#open.get(runId);
    if (open !== undefined && --open.count === 0) this.#open.delete(runId);
    if (clears) this.#held?.cleared(runId);
    if (this.#alone === runId) this.#alone = undefined;
    // At once: a process that is killed while nothing runs is killed from outside. With others in work the note may name too many, and
    // then names none of them alone.
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
    // Before the realm hears of the task: its messages leave in a microtask that is queued after this one.
    queueMicrotask(() => this.#dirty && this.#note());
  }

  /** Lets in what may enter, in the order of coming. */
  #next(): void {
    this.#stopTimer();
    let later = Infinity;
    for (let i = 0; i < this.#waiting.length;) {
      const { run, admit } = this.#waiting[i]!;
      if (this.#alone !== undefined) return;
      const deaths = this.#deathsOf(run);
      const wait = deaths !== undefined && deaths > 0 ? this.#startedAt + WAIT_MS - this.#timers.now() : 0;
      if (wait > 0) {
        later = Math.min(later, wait);
        i++;
        continue;
      }
      if (deaths !== undefined) {
        // Those that are in the realm end first, and nothing overtakes.
        if (this.#open.size > 0) return;
        this.#alone = run.runId;
      }
      this.#waiting.splice(i, 1);
      this.#admit(run);
      admit();
    }
    if (later < Infinity && !this.#closed) this.#stopTimer = this.#timers.after(later, () => this.#next());
  }

  #note(): void {
    this.#dirty = false;
    if (this.#closed) return;
    this.#stopTick();
    this.#write(this.#open.size === 0 ? "\n" : this.#text(0));
    if (this.#open.size === 1) this.#count(this.#timers.now());
  }

  /** One line of JSON. `ms`: for how long the one run has been alone. */
  #text(ms: number): string {
    const names = Array.from(this.#open.values(), ({ name }) => name);
    return `{"runs":[${names.join(",")}],"ms":${ms}}\n`;
  }

  /** Says for how long the one run has been alone, until the next note. */
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
      // A full disk, for one: the work matters more than what is said of it.
    }
  }

  /** The process ends by itself: whatever runs is not to blame. */
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

/** One note of what several processes have left: their runs, and not how long one was alone. "" where none of them died at work. */
export function joinedNotes(texts: readonly string[]): string {
  const names = new Set(
    texts.flatMap((text) => contentOf(text).runs).map((run) => nameInNote({ ...run, waits: 0 })),
  );
  return names.size === 0 ? "" : `{"runs":[${[...names].join(",")}],"ms":0}\n`;
}

/** The first line of the note; what stands behind it is left over from longer ones. */
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
