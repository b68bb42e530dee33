// Clients that skip time of a test server while they wait for a result or an update.
import {
  Client,
  type ClientOptions,
  WorkflowClient,
  type WorkflowClientOptions,
  type WorkflowResultOptions,
} from "../client/mod.ts";
import type { Workflow, WorkflowResultType } from "../common/mod.ts";
import type { TimeControl } from "./time_control.ts";

/** Options of a test environment's client, without connection and namespace. */
export type ClientOptionsForTestEnv = Omit<ClientOptions, "namespace" | "connection">;

const controls = new WeakMap<object, TimeControl>();

/** Associates a connection with the time control of its server. */
export function hasTime(connection: object, control: TimeControl): void {
  controls.set(connection, control);
}

/** A client whose `workflow` skips time. */
export class TimeSkippingClient extends Client {
  constructor(options: ClientOptions) {
    super(options);
    const workflow = new TimeSkippingWorkflowClient({
      ...this.workflow.options,
      connection: options.connection,
    });
    Object.defineProperty(this, "workflow", {
      value: workflow,
      enumerable: true,
      configurable: true,
    });
  }
}

/**
 * A client that skips the server's time while it waits for a result or an update:
 * `handle.result()`, `execute()`, `executeUpdate()`.
 */
export class TimeSkippingWorkflowClient extends WorkflowClient {
  readonly #control: TimeControl;

  /**
   * Throws a TypeError for a connection that is not of
   * `TestWorkflowEnvironment.createTimeSkipping`.
   */
  constructor(options: WorkflowClientOptions) {
    super(options);
    const control = controls.get(options.connection ?? {});
    if (control === undefined) {
      throw new TypeError(
        "time cannot be skipped: use the connection of an environment created by TestWorkflowEnvironment.createTimeSkipping",
      );
    }
    this.#control = control;
  }

  /** Waits for the result of a workflow and skips time meanwhile. */
  override result<T extends Workflow>(
    workflowId: string,
    runId?: string,
    options?: WorkflowResultOptions,
  ): Promise<WorkflowResultType<T>> {
    return this.#control.skipping(
      workflowId,
      () => super.result<T>(workflowId, runId, options),
      runId,
    );
  }

  /** @internal */
  override whileUpdateIsAwaited<T>(
    workflowId: string,
    updateId: string,
    work: () => Promise<T>,
    name?: string,
  ): Promise<T> {
    return this.#control.skippingUpdate(workflowId, updateId, work, name);
  }
}
