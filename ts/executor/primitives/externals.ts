// Signals to other workflows and requests to cancel them. A sent message stays sent when its scope
// ends. A cancellation of this workflow cancels a signal that is not sent yet, and in both cases
// ends the wait at once, so that the result does not depend on timing.
import {
  CancelExternalWorkflow,
  CancelSignalWorkflow,
  CommandKind,
  SignalExternalWorkflow,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeFailure } from "../../converter/failure_converter.ts";
import { encodeWith, wireAll } from "../program/encode.ts";
import { replaceLoneSurrogates } from "../../converter/well_formed.ts";
import { Awaiter, type Fiber, type Leftover } from "../scheduler/fiber.ts";
import type { MessageTarget } from "../scheduler/job_targets.ts";

/** Another workflow. Empty run id: the current run of the workflow id. */
export interface ExternalTarget {
  readonly workflowId: string;
  readonly runId: string;
  /** It must be a child of this workflow. */
  readonly isChild: boolean;
}

/** Waits until the server has delivered a message to another workflow, or failed to. */
abstract class ExternalAwaiter extends Awaiter<void> implements MessageTarget {
  readonly external = true;

  override get leftover(): Leftover {
    return "unconfirmed";
  }

  /** The core's result: an encoded Failure, or empty. */
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
    // Before the awaiter exists, so that arguments that cannot be encoded throw without side
    // effects.
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
    this.fiber.run.issue(
      CommandKind.COMMAND_KIND_CANCEL_SIGNAL_WORKFLOW,
      encodeWith(CancelSignalWorkflow, { seq: this.#seq }),
    );
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
      encodeWith(CancelExternalWorkflow, {
        namespace: "",
        workflowId,
        runId,
        reason: replaceLoneSurrogates(reason),
        seq: 0,
      }),
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
