// Workflows that this one did not start: messages to them, by id.
import { waitingFiber } from "../executor/scheduler/api_guard.ts";
import { ExternalCancelAwaiter, ExternalSignalAwaiter } from "../executor/primitives/externals.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { requireName } from "./children.ts";
import type { Signal } from "./messages.ts";
import { optionalText } from "./retry.ts";

/** Another workflow of the namespace. Made by {@link externalWorkflow}. */
export interface ExternalWorkflow {
  /** Its id. */
  readonly workflowId: string;
  /** The run that is meant; undefined: the one that is current when a message arrives. */
  readonly runId: string | undefined;
  /**
   * Sends a signal. Resolves when the service has recorded it; rejects with an ApplicationFailure of type
   * "ExternalWorkflowExecutionNotFound" when there is no such workflow or it is closed. Await it: a Temporal server forgets what
   * leaves with the last task of a workflow.
   */
  signal<A extends unknown[] = unknown[]>(signal: Signal<A> | string, ...args: NoInfer<A>): Promise<void>;
  /** Asks it to cancel. Resolves when the service has recorded that; rejects as `signal` does. It cannot be taken back. Await it, too. */
  cancel(reason?: string): Promise<void>;
}

/**
 * Another workflow of the namespace, by its id: to signal it, or to ask it to cancel. Finds nothing out and waits for nothing.
 *
 * @example
 * await externalWorkflow(`account-${order.customer}`).signal(charged, order.total);
 */
export function externalWorkflow(workflowId: string, runId?: string): ExternalWorkflow {
  if (typeof workflowId !== "string" || workflowId === "") {
    throw new TypeError("externalWorkflow needs the id of a workflow, a non-empty string");
  }
  optionalText("the run id of externalWorkflow", runId);
  const target = { workflowId, runId: runId ?? "", isChild: false };
  return Object.freeze({
    workflowId,
    runId,
    signal(signal: { readonly name: string } | string, ...args: unknown[]) {
      const name = requireName("signal", signal);
      const fiber = waitingFiber(`signal "${name}" to another workflow`);
      if (fiber instanceof Error) return rejected<void>(fiber);
      return new ExternalSignalAwaiter(fiber, target, name, args).promise;
    },
    cancel(reason?: string) {
      const why = optionalText("the reason of a cancel request", reason) ?? "";
      const fiber = waitingFiber("cancel of another workflow");
      if (fiber instanceof Error) return rejected<void>(fiber);
      return new ExternalCancelAwaiter(fiber, target, why).promise;
    },
  });
}
