// A selection of workflows (belonging.ts), and actions on all running ones.
import { queryOf, type WorkflowSelection } from "./belonging.ts";
import type { Signal } from "./definitions.ts";
import { type CallSettings, checkSettings } from "./calls.ts";
import type { WorkflowSummary } from "./descriptions.ts";
import { WorkflowNotFoundError } from "./errors.ts";
import type { WorkflowHandle } from "./handle.ts";

/** Functions of the client for a set of workflows. */
interface Members {
  list(query: string, settings: CallSettings): AsyncIterable<WorkflowSummary>;
  count(query: string, settings: CallSettings): Promise<number>;
  handle(workflowId: string, runId: string): WorkflowHandle;
}

/** Maximum concurrent requests. */
const AT_ONCE = 20;

/** A selection of workflows. Created by {@link Client.workflows}, without a request. */
export class WorkflowSet {
  /** Visibility query of the selection, as for `list`. */
  readonly query: string;
  readonly #members: Members;

  /** @internal */
  constructor(members: Members, selection: WorkflowSelection) {
    this.#members = members;
    this.query = queryOf(selection);
  }

  /** Lists its runs, including closed ones, newest first. */
  list(settings: CallSettings = {}): AsyncIterable<WorkflowSummary> {
    return this.#members.list(this.query, settings);
  }

  /** Counts its runs, including closed ones. */
  count(settings: CallSettings = {}): Promise<number> {
    return this.#members.count(this.query, settings);
  }

  /**
   * Requests cancellation of all running workflows; returns their number. Skips those that have
   * closed meanwhile.
   */
  cancel(reason?: string, settings: CallSettings = {}): Promise<number> {
    return this.#each((handle) => handle.cancel(reason), settings);
  }

  /**
   * Terminates all running workflows; returns their number. Skips those that have closed meanwhile.
   */
  terminate(reason?: string, settings: CallSettings = {}): Promise<number> {
    return this.#each((handle) => handle.terminate(reason), settings);
  }

  /**
   * Signals all running workflows; returns their number. Skips those that have closed meanwhile.
   */
  signal<A extends unknown[] = unknown[]>(
    signal: Signal<A> | string,
    ...args: NoInfer<A>
  ): Promise<number> {
    return this.#each((handle) => handle.signal(signal, ...args), {});
  }

  /** After all attempts, throws the first error, except for closed workflows. */
  async #each(
    act: (handle: WorkflowHandle) => Promise<void>,
    settings: CallSettings,
  ): Promise<number> {
    checkSettings("an action on a set of workflows", settings);
    const handles: WorkflowHandle[] = [];
    // Listed completely first, because the action changes the list.
    for await (
      const { workflowId, runId } of this.#members.list(
        `${this.query} AND ExecutionStatus = 'Running'`,
        settings,
      )
    ) {
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
