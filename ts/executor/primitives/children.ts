// Child workflows: StartChildWorkflow out; ResolveChildWorkflowStart and ResolveChildWorkflow in. A
// child outlives its call (handles can be kept), so it belongs to the run; awaiters wait for its
// start or end. A canceled child that is not waited for ends at the position of the cancellation,
// as activities do; later results from the core are ignored.
import {
  CancelChildWorkflow,
  ChildWorkflowCancellationType,
  CommandKind,
  type ResolveChildWorkflow,
  type ResolveChildWorkflowStart,
  StartChildWorkflow,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { enumName } from "../../converter/enums.ts";
import { decodeFailure } from "../../converter/failure_converter.ts";
import {
  ApplicationFailure,
  CancelledFailure,
  ChildWorkflowFailure,
  WorkflowExecutionAlreadyStartedError,
} from "../../converter/failures.ts";
import { defaultPayloadConverter } from "../../converter/payload.ts";
import {
  type SearchAttributes,
  toSearchAttributePayloads,
} from "../../converter/search_attributes.ts";
import {
  encodeWith,
  wire,
  wireAll,
  type WirePayload,
  wirePayloads,
  wireRecord,
} from "../program/encode.ts";
import { replaceLoneSurrogates } from "../../converter/well_formed.ts";
import { copyPayload } from "../scheduler/headers.ts";
import { Awaiter, type Fiber } from "../scheduler/fiber.ts";
import type { ChildTarget } from "../scheduler/job_targets.ts";
import type { RunState } from "../scheduler/run_state.ts";
import { uuidOf } from "../../platform/uuid.ts";

/** Options of a child. Durations in ms; 0: not set. */
export type ChildOptionsShape =
  & Omit<
    StartChildWorkflow,
    | "namespace"
    | "workflowId"
    | "arguments"
    | "headers"
    | "memo"
    | "searchAttributes"
    | "summary"
    | "details"
    | "seq"
  >
  & {
    /** Undefined: a UUID from the run's random seed. */
    readonly workflowId: string | undefined;
    readonly args: readonly unknown[];
    readonly memo: { readonly [key: string]: unknown } | undefined;
    readonly searchAttributes: SearchAttributes | undefined;
    readonly summary: string | undefined;
    readonly details: string | undefined;
  };

export const CHILD_CANCELLATION = {
  waitCancellationCompleted:
    ChildWorkflowCancellationType.CHILD_WORKFLOW_CANCELLATION_TYPE_WAIT_CANCELLATION_COMPLETED,
  waitCancellationRequested:
    ChildWorkflowCancellationType.CHILD_WORKFLOW_CANCELLATION_TYPE_WAIT_CANCELLATION_REQUESTED,
  tryCancel: ChildWorkflowCancellationType.CHILD_WORKFLOW_CANCELLATION_TYPE_TRY_CANCEL,
  abandon: ChildWorkflowCancellationType.CHILD_WORKFLOW_CANCELLATION_TYPE_ABANDON,
} as const;

/** temporal.api.enums.v1.ParentClosePolicy */
const ABANDON = 2;

const WAITS: ReadonlySet<number> = new Set([
  CHILD_CANCELLATION.waitCancellationCompleted,
  CHILD_CANCELLATION.waitCancellationRequested,
]);

/** temporal.api.enums.v1.StartChildWorkflowExecutionFailedCause */
const START_FAILED = {
  UNSPECIFIED: 0,
  WORKFLOW_ALREADY_EXISTS: 1,
  NAMESPACE_NOT_FOUND: 2,
  INVALID_VERSIONING_OVERRIDE: 3,
} as const;

type Ending = { readonly ok: true; readonly payload: WirePayload | undefined } | {
  readonly ok: false;
  readonly error: unknown;
};

/** A child workflow that this run has started. */
export class Child implements ChildTarget {
  readonly run: RunState;
  readonly seq: number;
  readonly workflowId: string;
  readonly workflowType: string;
  /** Started in a shield: a cancellation of the workflow does not reach it. */
  readonly shielded: boolean;
  readonly endsWithParent: boolean;
  /** Id of its first run; undefined until the start is known. */
  runId: string | undefined;
  readonly #cancellationType: ChildWorkflowCancellationType;
  readonly #waiting = new Set<ChildAwaiter>();
  #cancelRequested = false;
  #ending: Ending | undefined;

  constructor(fiber: Fiber, options: ChildOptionsShape) {
    const run = this.run = fiber.run;
    const { workflowType, cancellationType } = options;
    this.workflowType = workflowType;
    this.workflowId = options.workflowId ?? uuidOf(run.randomBytes(16));
    this.shielded = fiber.shielded;
    this.endsWithParent = options.parentClosePolicy !== ABANDON;
    this.#cancellationType = cancellationType;
    // For readers of the history, so plain text with any converter.
    const text = (value: string | undefined) =>
      value === undefined ? undefined : wire(defaultPayloadConverter.toPayload(value));
    // Before the child exists, so that values that cannot be encoded throw without side effects.
    const attributes = encodeWith(StartChildWorkflow, {
      ...options,
      namespace: "",
      workflowId: this.workflowId,
      arguments: wireAll(run.converter, options.args),
      headers: run.headers.fields,
      memo: wireRecord(run.converter, options.memo),
      searchAttributes: wirePayloads(toSearchAttributePayloads(options.searchAttributes ?? {})),
      summary: text(options.summary),
      details: text(options.details),
      seq: 0,
    });
    this.seq = run.issue(CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW, attributes);
    run.children.set(this.seq, this);
  }

  toString(): string {
    return `child workflow "${this.workflowType}" (${this.workflowId})`;
  }

  /**
   * Requests cancellation once. Types that do not wait end the child here; `cause` is in its
   * failure.
   */
  cancel(reason: string, cause: unknown): void {
    if (this.#cancelRequested || this.#ending !== undefined) return;
    this.#cancelRequested = true;
    this.run.issue(
      CommandKind.COMMAND_KIND_CANCEL_CHILD_WORKFLOW,
      encodeWith(CancelChildWorkflow, { seq: this.seq, reason: replaceLoneSurrogates(reason) }),
    );
    if (WAITS.has(this.#cancellationType)) return;
    const { workflowType, workflowId, runId = "" } = this;
    this.#end({
      ok: false,
      error: new ChildWorkflowFailure("Child Workflow execution cancelled", {
        workflowType,
        workflowId,
        runId,
      }, { cause }),
    });
  }

  startResolved({ status }: ResolveChildWorkflowStart): void {
    switch (status?.$case) {
      case "started":
        this.runId = status.value.runId;
        for (const awaiter of [...this.#waiting]) {
          if (awaiter.stage === "start") this.#settle(awaiter);
        }
        return;
      case "failed":
        return this.#end({ ok: false, error: this.#startError(status.value.cause) });
      case "cancelled":
        return this.#end({ ok: false, error: decodeFailure(status.value, this.run.converter) });
      case undefined:
        throw new Error(`the core resolved the start of child workflow ${this.seq} with nothing`);
    }
  }

  resolved({ result }: ResolveChildWorkflow): void {
    switch (result?.$case) {
      case "completed": {
        const payload = result.value.result;
        // Copied without awaiters: the payload is a view of the activation's bytes, which are
        // reused.
        return this.#end({
          ok: true,
          payload: payload === undefined || this.#waiting.size > 0 ? payload : copyPayload(payload),
        });
      }
      case "failed":
      case "cancelled":
        return this.#end({ ok: false, error: decodeFailure(result.value, this.run.converter) });
      case undefined:
        throw new Error(`the core resolved child workflow ${this.seq} with nothing`);
    }
  }

  /** Settles the awaiter now, or when the result is known. */
  attach(awaiter: ChildAwaiter): void {
    this.#waiting.add(awaiter);
    if (this.#ending !== undefined) this.#settle(awaiter);
  }

  detach(awaiter: ChildAwaiter): void {
    this.#waiting.delete(awaiter);
  }

  #end(ending: Ending): void {
    this.#ending = ending;
    this.run.children.delete(this.seq);
    for (const awaiter of [...this.#waiting]) this.#settle(awaiter);
    if (ending.ok && ending.payload !== undefined) {
      this.#ending = { ok: true, payload: copyPayload(ending.payload) };
    }
  }

  #settle(awaiter: ChildAwaiter): void {
    this.#waiting.delete(awaiter);
    const ending = this.#ending;
    if (ending?.ok === false && (awaiter.stage === "end" || this.runId === undefined)) {
      awaiter.fail(ending.error);
    } else if (awaiter.stage === "start") awaiter.started();
    else awaiter.fulfil(this.#value(ending?.ok === true ? ending.payload : undefined));
  }

  /**
   * A result that does not decode fails the task; a deployment with the right codec continues it.
   */
  #value(payload: WirePayload | undefined): unknown {
    if (payload === undefined) return undefined;
    try {
      return this.run.converter.fromPayload(payload);
    } catch (e) {
      this.run.fail(e as Error);
      throw e;
    }
  }

  #startError(cause: number): Error {
    const { workflowId, workflowType } = this;
    if (cause === START_FAILED.WORKFLOW_ALREADY_EXISTS) {
      return new WorkflowExecutionAlreadyStartedError(workflowId, workflowType);
    }
    const type = enumName(START_FAILED, cause) ?? `START_CHILD_WORKFLOW_FAILED_${cause}`;
    return new ApplicationFailure(`${this} could not be started: ${type}`, {
      type,
      nonRetryable: true,
    });
  }
}

/** Waits for the start or the end of a child. */
export class ChildAwaiter extends Awaiter<unknown> {
  readonly waitsFor: "childStart" | "childWorkflow";
  readonly external = true;
  readonly stage: "start" | "end";
  readonly #child: Child;
  readonly #starts: boolean;
  readonly #handle: (() => unknown) | undefined;

  /**
   * `starts`: this call started the child, and cancels it when its scope ends. `handle`: returns
   * the result of a wait for the start.
   */
  constructor(
    fiber: Fiber,
    child: Child,
    stage: "start" | "end",
    starts: boolean,
    handle?: () => unknown,
  ) {
    super(fiber);
    this.#handle = handle;
    this.#child = child;
    this.stage = stage;
    this.waitsFor = stage === "start" ? "childStart" : "childWorkflow";
    this.#starts = starts;
    child.attach(this);
  }

  override get seq(): number {
    return this.#child.seq;
  }

  /** Settles a wait for the start. */
  started(): void {
    this.fulfil(this.#handle?.());
  }

  describe(): string {
    return this.stage === "start" ? `start of ${this.#child}` : `${this.#child}`;
  }

  cancel(reason: unknown): void {
    // Only the wait ends; a shielded child continues.
    if (this.#child.shielded && !this.fiber.shielded) this.fail(reason);
    else this.#child.cancel(this.fiber.run.cancellation?.reason ?? "", reason);
  }

  override abandon(reason: unknown): void {
    this.#child.detach(this);
    this.fail(reason);
    if (this.#starts) this.#child.cancel("the scope that started it has ended", reason);
  }
}

/** The failure of a child that was canceled by its handle. */
export function cancelledByHandle(child: Child, reason: string): CancelledFailure {
  return new CancelledFailure(
    reason === "" ? `${child} was cancelled` : `${child} was cancelled: ${reason}`,
  );
}
