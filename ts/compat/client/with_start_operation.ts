// The start of an update-with-start, with the resulting workflow.
import type { Workflow } from "../common/definitions.ts";
import type { WorkflowIdConflictPolicy } from "../common/policies.ts";
import type { WorkflowHandle } from "./workflow_handle.ts";
import type { WorkflowStartOptions } from "./workflow_options.ts";

/** Begins the operation, at most once. */
export const OPERATION: unique symbol = Symbol("operation");

/** The start of an update-with-start, for one call. */
export class WithStartWorkflowOperation<T extends Workflow> {
  /** Workflow function or type. */
  workflowTypeOrFunc: string | T;
  /** Options of the start; `workflowIdConflictPolicy` is required. */
  options: WorkflowStartOptions<T> & { workflowIdConflictPolicy: WorkflowIdConflictPolicy };
  readonly #handle: Promise<WorkflowHandle<T>>;
  #resolve: (handle: WorkflowHandle<T>) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  #used = false;

  constructor(
    workflowTypeOrFunc: string | T,
    options: WorkflowStartOptions<T> & { workflowIdConflictPolicy: WorkflowIdConflictPolicy },
  ) {
    this.workflowTypeOrFunc = workflowTypeOrFunc;
    this.options = options;
    this.#handle = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    // The call itself rejects as well.
    this.#handle.catch(() => {});
  }

  /** Resolves with the started or existing workflow. */
  async workflowHandle(): Promise<WorkflowHandle<T>> {
    return await this.#handle;
  }

  /** @internal */
  [OPERATION](): { resolve(handle: WorkflowHandle<T>): void; reject(error: unknown): void } {
    if (this.#used) {
      throw new Error("This WithStartWorkflowOperation instance has already been executed.");
    }
    this.#used = true;
    return { resolve: this.#resolve, reject: this.#reject };
  }
}
