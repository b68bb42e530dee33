// Messages to workflows that this one did not start, by id.
import { waitingFiber } from "../executor/scheduler/api_guard.ts";
import { ExternalCancelAwaiter, ExternalSignalAwaiter } from "../executor/primitives/externals.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { requireName } from "./children.ts";
import type { Signal } from "./messages.ts";
import { optionalText } from "./retry.ts";

/** Another workflow of the namespace. Made by {@link externalWorkflow}. */
export interface ExternalWorkflow {
  readonly workflowId: string;
  /** Run id; undefined: the current run when a message arrives. */
  readonly runId: string | undefined;
  /**
   * Sends a signal. Resolves when the service has recorded it; rejects with an ApplicationFailure
   * of type "ExternalWorkflowExecutionNotFound" if the workflow does not exist or is closed. Await
   * it: a Temporal server drops messages of a workflow's last task.
   */
  signal<A extends unknown[] = unknown[]>(
    signal: Signal<A> | string,
    ...args: NoInfer<A>
  ): Promise<void>;
  /**
   * Requests cancellation. Resolves when the service has recorded it; rejects like `signal`. Await
   * it too.
   */
  cancel(reason?: string): Promise<void>;
}

/**
 * Returns another workflow of the namespace, to signal or cancel it. Does not check that it exists.
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
