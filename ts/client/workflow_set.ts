// Workflows that belong together (belonging.ts), and what is done to all of them that run.
import { queryOf, type WorkflowSelection } from "./belonging.ts";
import type { Signal } from "./definitions.ts";
import { type CallSettings, checkSettings } from "./calls.ts";
import type { WorkflowSummary } from "./descriptions.ts";
import { WorkflowNotFoundError } from "./errors.ts";
import type { WorkflowHandle } from "./handle.ts";

/** What a set of workflows is made of. */
interface Members {
  list(query: string, settings: CallSettings): AsyncIterable<WorkflowSummary>;
  count(query: string, settings: CallSettings): Promise<number>;
  handle(workflowId: string, runId: string): WorkflowHandle;
}

/** So many are done at the same time. */
const AT_ONCE = 20;

/** Workflows that belong together. Made by {@link Client.workflows}; asks nothing of the service by itself. */
export class WorkflowSet {
  /** What selects them, as `list` takes it. */
  readonly query: string;
  readonly #members: Members;

  /** @internal */
  constructor(members: Members, selection: WorkflowSelection) {
    this.#members = members;
    this.query = queryOf(selection);
  }

  /** Its runs, closed ones too, the newest first. */
  list(settings: CallSettings = {}): AsyncIterable<WorkflowSummary> {
    return this.#members.list(this.query, settings);
  }

  /** How many runs it has, closed ones too. */
  count(settings: CallSettings = {}): Promise<number> {
    return this.#members.count(this.query, settings);
  }

  /** Asks all that run to cancel; returns how many were asked. One that has ended meanwhile is passed over. */
  cancel(reason?: string, settings: CallSettings = {}): Promise<number> {
    return this.#each((handle) => handle.cancel(reason), settings);
  }

  /** Terminates all that run; returns how many were. One that has ended meanwhile is passed over. */
  terminate(reason?: string, settings: CallSettings = {}): Promise<number> {
    return this.#each((handle) => handle.terminate(reason), settings);
  }

  /** Sends a signal to all that run; returns to how many. One that has ended meanwhile is passed over. */
  signal<A extends unknown[] = unknown[]>(signal: Signal<A> | string, ...args: NoInfer<A>): Promise<number> {
    return this.#each((handle) => handle.signal(signal, ...args), {});
  }

  /** Throws the first error that is not the end of a run, after all have been tried. */
  async #each(act: (handle: WorkflowHandle) => Promise<void>, settings: CallSettings): Promise<number> {
    checkSettings("an action on a set of workflows", settings);
    const handles: WorkflowHandle[] = [];
    // Listed to the end before anything is done: what is done changes the list.
    for await (const { workflowId, runId } of this.#members.list(`${this.query} AND ExecutionStatus = 'Running'`, settings)) {
      handles.push(this.#members.handle(workflowId, runId));
    }
    let done = 0, at = 0;
    const errors: unknown[] = [];
    const work = async () => {
      for (let handle = handles[at++]; handle !== undefined; handle = handles[at++]) {
        try {
          settings.signal?.throwIfAborted();
          await act(handle.with(settings));
          done++;
        } catch (error) {
          if (!(error instanceof WorkflowNotFoundError)) errors.push(error);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (errors.length > 0) throw errors[0];
    return done;
  }
}
