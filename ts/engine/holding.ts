// Runs that a store's processes died on: which tasks are running is noted beside the store, and a run
// that ended two processes in a row is held. What callers ask of a held run is answered here.
import { type HeldRun, HeldRuns, type RunName } from "../crash_notes/held_runs.ts";
import { noteText, realPath, workNote } from "../crash_notes/note_files.ts";
import { RunningTasks } from "../crash_notes/running_tasks.ts";
import { describedHeld, heldPath, queriedHeld, refuseHeld, refuseOthers, workPath } from "./held_status.ts";
import type { Store } from "./store.ts";

/** Asks the engine for the description of a run: request and response are bytes. */
type Describe = (request: Uint8Array) => Promise<Uint8Array>;

export class Holding {
  readonly #store: Store;
  readonly #path: string | undefined;
  readonly #held: HeldRuns | undefined;
  #running: RunningTasks | undefined;

  /** `path`: of the store's file; undefined: it has none, and nothing is noted. Throws for a file that is no store of this package. */
  constructor(store: Store, path: string | undefined) {
    this.#store = store;
    this.#path = path === undefined ? undefined : realPath(path);
    if (this.#path !== undefined) refuseOthers(this.#path);
    const held = this.#path === undefined ? undefined : noteText(heldPath(this.#path));
    this.#held = held && new HeldRuns(held);
  }

  readonly of = (runId: string): HeldRun | undefined => this.#held?.get(runId);

  list(): readonly HeldRun[] {
    return this.#held?.list() ?? [];
  }

  release(workflowId: string, runId?: string): readonly HeldRun[] {
    return this.#held?.release(workflowId, runId) ?? [];
  }

  /** A description that says whether the run is held. */
  async described(request: Uint8Array, describe: Describe): Promise<Uint8Array> {
    return describedHeld(await describe(request), this.of);
  }

  /** Rejects a query to a held run: no worker will answer it. */
  async refuseQuery(request: Uint8Array, describe: Describe): Promise<void> {
    const describes = queriedHeld(request, this.list());
    if (describes !== undefined) refuseHeld(await describe(describes), this.of);
  }

  /** What notes the runs in work, for the workers of this process; made when the first of them asks. */
  runningTasks(): RunningTasks | undefined {
    if (this.#path === undefined) return undefined;
    const work = this.#running === undefined ? workNote(workPath(this.#path)) : undefined;
    if (work !== undefined) {
      const isOpen = ({ workflowId, runId }: RunName) => this.#isOpen(workflowId, runId);
      this.#running = new RunningTasks({ work, held: this.#held, isOpen });
    }
    return this.#running;
  }

  #isOpen(workflowId: string, runId: string): boolean {
    try {
      const row = this.#store.load(workflowId, runId)?.row;
      return row !== undefined && row.closeTimeMs === 0;
    } catch {
      return true;
    }
  }

  close(): void {
    this.#running?.close();
  }
}
