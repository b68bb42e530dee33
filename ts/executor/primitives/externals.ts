// Signals to other workflows and requests that they cancel. They are messages: what was sent is not taken back when the scope that sent it
// ends. A cancellation of this workflow takes back a signal that has not left yet, and ends the wait at once either way, so that an outcome
// does not depend on whether the command was in time.
import {
  CancelExternalWorkflow,
  CancelSignalWorkflow,
  CommandKind,
  SignalExternalWorkflow,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeFailure } from "../../converter/failure_converter.ts";
import { encodeWith, wireAll } from "../program/encode.ts";
import { Awaiter, type Fiber, type Leftover } from "../scheduler/fiber.ts";
import type { MessageTarget } from "../scheduler/job_targets.ts";

/** Another workflow. An empty run id means the current run of the workflow id. */
export interface ExternalTarget {
  readonly workflowId: string;
  readonly runId: string;
  /** It must be a child of this workflow. */
  readonly isChild: boolean;
}

/** Waits until the server has given a message to another workflow, or could not. */
abstract class ExternalAwaiter extends Awaiter<void> implements MessageTarget {
  readonly external = true;

  override get leftover(): Leftover {
    return "unconfirmed";
  }

  /** The core's answer: bytes of a Failure, empty for none. */
  resolved(failure: Uint8Array): void {
    if (failure.length === 0) this.fulfil(undefined);
    else this.fail(decodeFailure(failure, this.fiber.run.converter));
  }

  override abandon(reason: unknown): void {
    this.fail(reason);
  }
}

export class ExternalSignalAwaiter extends ExternalAwaiter {
  readonly waitsFor = "externalSignal";
  readonly #name: string;
  readonly #to: string;
  readonly #seq: number;

  constructor(fiber: Fiber, target: ExternalTarget, signalName: string, args: readonly unknown[]) {
    const { run } = fiber;
    // Before the awaiter exists: arguments that cannot be encoded throw to the caller and leave nothing behind.
    const attributes = encodeWith(SignalExternalWorkflow, {
      namespace: "",
      workflowId: target.workflowId,
      runId: target.runId,
      childWorkflowOnly: target.isChild,
      signalName,
      arguments: wireAll(run.converter, args),
      headers: run.headers.fields,
      seq: 0,
    });
    super(fiber);
    this.#name = signalName;
    this.#to = target.workflowId;
    this.#seq = run.issue(CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW, attributes);
    run.externalSignals.set(this.#seq, this);
  }

  override get seq(): number {
    return this.#seq;
  }

  describe(): string {
    return `signal "${this.#name}" to workflow ${this.#to}`;
  }

  cancel(reason: unknown): void {
    this.fiber.run.issue(CommandKind.COMMAND_KIND_CANCEL_SIGNAL_WORKFLOW, encodeWith(CancelSignalWorkflow, { seq: this.#seq }));
    this.fail(reason);
  }
}

export class ExternalCancelAwaiter extends ExternalAwaiter {
  readonly waitsFor = "externalCancel";
  readonly #to: string;
  readonly #seq: number;

  constructor(fiber: Fiber, target: ExternalTarget, reason: string) {
    super(fiber);
    const { run } = fiber;
    const { workflowId, runId } = target;
    this.#to = workflowId;
    this.#seq = run.issue(
      CommandKind.COMMAND_KIND_CANCEL_EXTERNAL_WORKFLOW,
      encodeWith(CancelExternalWorkflow, { namespace: "", workflowId, runId, reason, seq: 0 }),
    );
    run.externalCancels.set(this.#seq, this);
  }

  override get seq(): number {
    return this.#seq;
  }

  describe(): string {
    return `cancel request to workflow ${this.#to}`;
  }

  cancel(reason: unknown): void {
    this.fail(reason);
  }
}
