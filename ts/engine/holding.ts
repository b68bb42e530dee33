// Runs that a store's processes died on: which tasks are running is noted beside the store, and a run
// that ended two processes in a row is held. What callers ask of a held run is answered here.
import { type HeldRun, HeldRuns, type RunName } from "../crash_notes/held_runs.ts";
import { noteText, resolveNotePath, workNote } from "../crash_notes/note_files.ts";
import { RunningTasks } from "../crash_notes/running_tasks.ts";
import type { MethodName } from "../service/raw.ts";
import { describedHeld, heldPath, queriedHeld, refuseHeld, refuseOthers, workPath } from "./held_status.ts";
import type { Store } from "./store.ts";

/** Asks the engine: request and response are bytes. */
type Ask = (method: MethodName, request: Uint8Array) => Promise<Uint8Array>;

const DESCRIBE = "describeWorkflowExecution";

export class Holding {
  readonly #store: Store;
  readonly #path: string | undefined;
  readonly #held: HeldRuns | undefined;
  #running: RunningTasks | undefined;

  /** `path`: of the store's file; undefined: it has none, and nothing is noted. Throws for a file that is no store of this package. */
  constructor(store: Store, path: string | undefined) {
    this.#store = store;
    this.#path = path === undefined ? undefined : resolveNotePath(path);
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

  /** A description that says whether the run is held; a query to a held run is refused: no worker will answer it. */
  async answered(method: MethodName, request: Uint8Array, ask: Ask): Promise<Uint8Array> {
    if (method === DESCRIBE) return describedHeld(await ask(DESCRIBE, request), this.of);
    const describes = queriedHeld(request, this.list());
    if (describes !== undefined) refuseHeld(await ask(DESCRIBE, describes), this.of);
    return await ask(method, request);
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
