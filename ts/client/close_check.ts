// Whether a long poll for the end of a run waits for something that has happened. Temporal's server tells those who wait of each change once,
// and keeps one unread notice for each of them: on a busy server the notice of the end is dropped behind the one before it, and the poll ends
// with nothing 20 s after it began. Short runs are hit, whose last changes come at once; it was one in a thousand on a server of two busy
// cores. So whoever has been waiting for a while looks, and a poll that waits for a run that is closed is given up and sent again, to be
// answered at once. Only at first: who has been waiting for long does not mind 20 s, and a service is not asked more often for it.
import { WorkflowExecutionStatus } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import { realTimers } from "../base/timers.ts";
import type { Deadline } from "./calls.ts";
import type { ClientContext } from "./context.ts";

/** When one looks, from the beginning of the wait. */
const LOOKS_MS: readonly number[] = [2000, 6000];

export class CloseCheck {
  readonly #context: ClientContext;
  readonly #execution: { readonly workflowId: string; readonly runId: string };
  readonly #deadline: Deadline;
  #looks = 0;
  #waited = 0;
  #cancel: (() => void) | undefined;
  /** Of the poll that waits. */
  #poll: AbortController | undefined;

  constructor(context: ClientContext, execution: { workflowId: string; runId: string }, deadline: Deadline) {
    this.#context = context;
    this.#execution = execution;
    this.#deadline = deadline;
    this.#next();
  }

  /** Waits by `poll`; answers undefined, as a poll that ended with nothing, once a look has shown that the run is closed. */
  async during<T>(poll: (deadline: Deadline) => Promise<T | undefined>): Promise<T | undefined> {
    // All looks are over: nothing will give the poll up but its caller.
    if (this.#cancel === undefined && this.#looks >= LOOKS_MS.length) return await poll(this.#deadline);
    const controller = this.#poll = new AbortController();
    const { signal } = this.#deadline;
    const follow = () => controller.abort(signal!.reason);
    signal?.addEventListener("abort", follow);
    if (signal?.aborted === true) follow();
    try {
      return await poll(this.#deadline.under(controller.signal));
    } catch (error) {
      if (controller.signal.aborted && controller.signal.reason === CLOSED) return undefined;
      throw error;
    } finally {
      signal?.removeEventListener("abort", follow);
      this.#poll = undefined;
    }
  }

  /** No more looks. */
  end(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#looks = LOOKS_MS.length;
  }

  #next(): void {
    const at = LOOKS_MS[this.#looks];
    this.#cancel = at === undefined ? undefined : realTimers.after(at - this.#waited, () => {
      this.#waited = at;
      this.#looks++;
      void this.#look().finally(() => this.#next());
    });
  }

  /** What a look says besides "closed" the poll says better. */
  async #look(): Promise<void> {
    const { calls, namespace } = this.#context;
    const poll = this.#poll;
    if (poll === undefined) return;
    const request = { namespace, execution: this.#execution };
    const under = this.#deadline.under(poll.signal);
    const seen = await calls.call("describeWorkflowExecution", request, under, undefined, { asStored: true }).catch(() =>
      undefined
    );
    const status = seen?.workflowExecutionInfo?.status ?? WorkflowExecutionStatus.RUNNING;
    if (status !== WorkflowExecutionStatus.RUNNING && status !== WorkflowExecutionStatus.UNSPECIFIED) poll.abort(CLOSED);
  }
}

/** The reason why a poll is given up. */
const CLOSED = new Error("the run is closed");
