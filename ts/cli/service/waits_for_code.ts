// Finds listed workflows that wait for their code because no worker of their queue knows the type.
// Lists lack this, so running ones are described, within limits, to keep lists fast.
import type { Client } from "../../client/client.ts";
import type { WorkflowSummary } from "../../client/descriptions.ts";
import { isUnknownType, lastTaskFailure, type TaskFailure } from "./blocked_reason.ts";
import type { Handle } from "./open_service.ts";

/** Maximum workflows of one list. */
const MOST = 100;
const AT_ONCE = 8;
const ALL_MS = 3000;
/** Maximum events of a history that is read for a list. */
const MOST_EVENTS = 1000;

export class WaitsForCode {
  readonly #client: Client;
  #left = MOST;
  #leftMs = ALL_MS;

  constructor(client: Client) {
    this.#client = client;
  }

  /**
   * Returns the workflows of a page with the worker's error. Never rejects; slow responses are left
   * out.
   */
  async among(
    page: readonly WorkflowSummary[],
  ): Promise<ReadonlyMap<WorkflowSummary, TaskFailure>> {
    const found = new Map<WorkflowSummary, TaskFailure>();
    const open = page.filter(({ status, historyLength }) =>
      status === "RUNNING" && historyLength <= MOST_EVENTS
    )
      .slice(0, this.#left);
    this.#left -= open.length;
    const began = performance.now();
    const end = began + this.#leftMs;
    const ask = async () => {
      for (let run = open.shift(); run !== undefined; run = open.shift()) {
        const left = end - performance.now();
        if (left <= 1) return;
        const failure = await this.#failureOf(run, left).catch(() => undefined);
        if (failure !== undefined && isUnknownType(failure)) found.set(run, failure);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, ask));
    this.#leftMs -= performance.now() - began;
    return found;
  }

  async #failureOf(
    { workflowId, runId }: WorkflowSummary,
    timeout: number,
  ): Promise<TaskFailure | undefined> {
    const handle =
      (this.#client.getHandle(undefined as string | undefined, workflowId, runId) as Handle).with({
        timeout,
      });
    const { pendingWorkflowTask, paused } = await handle.describe();
    if (paused !== undefined || (pendingWorkflowTask?.attempt ?? 1) <= 1) return undefined;
    return await lastTaskFailure(handle);
  }
}
