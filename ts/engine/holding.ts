// Held runs. The running tasks are recorded in a file next to the store; a run that was running
// when two processes in a row died is held, and calls for a held run respond from here.
import { type HeldRun, HeldRuns, type RunName } from "../crash_notes/held_runs.ts";
import { noteText, resolveNotePath, workNote } from "../crash_notes/note_files.ts";
import { RunningTasks } from "../crash_notes/running_tasks.ts";
import type { MethodName } from "../service/raw.ts";
import {
  describedHeld,
  heldPath,
  queriedHeld,
  refuseHeld,
  refuseOthers,
  workPath,
} from "./held_status.ts";
import type { Store } from "./store.ts";

/** Calls the engine; request and response are bytes. */
type Ask = (method: MethodName, request: Uint8Array) => Promise<Uint8Array>;

const DESCRIBE = "describeWorkflowExecution";

export class Holding {
  readonly #store: Store;
  readonly #path: string | undefined;
  readonly #held: HeldRuns | undefined;
  #running: RunningTasks | undefined;

  /**
   * `path`: of the store's file; undefined: no file, nothing is recorded. Throws a StoreError if
   * another file blocks the record.
   */
  constructor(store: Store, path: string | undefined) {
    this.#store = store;
    this.#path = path === undefined ? undefined : resolveNotePath(path);
    if (this.#path !== undefined) refuseOthers(this.#path);
    const held = this.#path === undefined ? undefined : noteText(heldPath(this.#path));
    this.#held = held && new HeldRuns(held);
  }

  /** Whether responses of a method may show held runs. */
  concerns(method: MethodName): boolean {
    return (method === DESCRIBE || method === "queryWorkflow") && this.list().length > 0;
  }

  readonly of = (runId: string): HeldRun | undefined => this.#held?.get(runId);

  list(): readonly HeldRun[] {
    return this.#held?.list() ?? [];
  }

  release(workflowId: string, runId?: string): readonly HeldRun[] {
    return this.#held?.release(workflowId, runId) ?? [];
  }

  /**
   * Adds the hold to a description. Rejects a query of a held run, since no worker can process it.
   */
  async answered(method: MethodName, request: Uint8Array, ask: Ask): Promise<Uint8Array> {
    if (method === DESCRIBE) return describedHeld(await ask(DESCRIBE, request), this.of);
    const describes = queriedHeld(request, this.list());
    if (describes !== undefined) refuseHeld(await ask(DESCRIBE, describes), this.of);
    return await ask(method, request);
  }

  /** The record of running tasks for the workers of this process, created on first use. */
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
