// Nexus operations: ScheduleNexusOperation out; ResolveNexusOperationStart and
// ResolveNexusOperation in. Like a child, an operation belongs to the run; awaiters wait for its
// start or end. A canceled operation that is not waited for ends at the position of the
// cancellation; later results are ignored.
import {
  CommandKind,
  NexusOperationCancellationType as Types,
  type ResolveNexusOperation,
  type ResolveNexusOperationStart,
  ScheduleNexusOperation,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeFailure } from "../../converter/failure_converter.ts";
import { CancelledFailure, NexusOperationFailure } from "../../converter/failures.ts";
import { defaultPayloadConverter } from "../../converter/payload.ts";
import { encodeWith, wire, type WirePayload } from "../program/encode.ts";
import { copyPayload } from "../scheduler/headers.ts";
import { Awaiter, type Fiber } from "../scheduler/fiber.ts";
import type { NexusTarget } from "../scheduler/job_targets.ts";
import type { RunState } from "../scheduler/run_state.ts";

/** A call without input, prepared once per service and operation. Durations in ms; 0: not set. */
export type NexusOperationShape = Omit<ScheduleNexusOperation, "input" | "summary" | "seq"> & {
  readonly summary: string | undefined;
  /**
   * Conversions between the program's values and the transferred ones, if the definition has them.
   */
  readonly toTransferType?: ((input: unknown) => unknown) | undefined;
  readonly fromTransferType?: ((output: unknown) => unknown) | undefined;
};

export const NEXUS_CANCELLATION = {
  waitCancellationCompleted: Types.NEXUS_OPERATION_CANCELLATION_TYPE_WAIT_CANCELLATION_COMPLETED,
  waitCancellationRequested: Types.NEXUS_OPERATION_CANCELLATION_TYPE_WAIT_CANCELLATION_REQUESTED,
  tryCancel: Types.NEXUS_OPERATION_CANCELLATION_TYPE_TRY_CANCEL,
  abandon: Types.NEXUS_OPERATION_CANCELLATION_TYPE_ABANDON,
} as const;

const WAITS: ReadonlySet<number> = new Set([
  NEXUS_CANCELLATION.waitCancellationCompleted,
  NEXUS_CANCELLATION.waitCancellationRequested,
]);

type Ending = { readonly ok: true; readonly payload: WirePayload | undefined } | {
  readonly ok: false;
  readonly error: unknown;
};

/** An operation that this run has called. */
export class NexusOperation implements NexusTarget {
  /** The calling fiber. */
  readonly fiber: Fiber;
  readonly run: RunState;
  readonly seq: number;
  readonly shielded: boolean;
  /** The operation token; "" if it completed synchronously; undefined until the start is known. */
  token: string | undefined;
  readonly #call: NexusOperationShape;
  readonly #waiting = new Set<NexusAwaiter>();
  #cancelRequested = false;
  #ending: Ending | undefined;

  constructor(fiber: Fiber, call: NexusOperationShape, input: unknown) {
    const run = this.run = fiber.run;
    this.fiber = fiber;
    this.#call = call;
    this.shielded = fiber.shielded;
    const { toTransferType } = call;
    // Before the operation exists, so that input that cannot be encoded throws without side
    // effects.
    const attributes = encodeWith(ScheduleNexusOperation, {
      ...call,
      input: wire(
        run.converter.toPayload(toTransferType === undefined ? input : toTransferType(input)),
      ),
      // For readers of the history, so plain text with any converter.
      summary: call.summary === undefined
        ? undefined
        : wire(defaultPayloadConverter.toPayload(call.summary)),
      seq: 0,
    });
    this.seq = run.issue(CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION, attributes);
    run.nexusOperations.set(this.seq, this);
  }

  toString(): string {
    return `Nexus operation "${this.#call.operation}" of service "${this.#call.service}"`;
  }

  /**
   * Requests cancellation once. Types that do not wait end the operation here; `cause` is in its
   * failure.
   */
  cancel(cause: unknown): void {
    if (this.#cancelRequested || this.#ending !== undefined) return;
    this.#cancelRequested = true;
    this.run.port.cancel(CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION, this.seq);
    const { endpoint, service, operation, cancellationType } = this.#call;
    if (WAITS.has(cancellationType)) return;
    const fields = { endpoint, service, operation, operationToken: this.token ?? "" };
    this.#end({
      ok: false,
      error: new NexusOperationFailure("Nexus operation cancelled", fields, { cause }),
    });
  }

  startResolved({ status }: ResolveNexusOperationStart): void {
    switch (status?.$case) {
      case "operationToken":
      case "startedSync":
        this.token = status.$case === "operationToken" ? status.value : "";
        for (const awaiter of [...this.#waiting]) {
          if (awaiter.stage === "start") this.#settle(awaiter);
        }
        return;
      case "failed":
        return this.#end({ ok: false, error: decodeFailure(status.value, this.run.converter) });
      case undefined:
        throw new Error(`the core resolved the start of Nexus operation ${this.seq} with nothing`);
    }
  }

  /** Records the end. An operation canceled before its start has no other result. */
  resolved({ result }: ResolveNexusOperation): void {
    switch (result?.$case) {
      case "completed":
        return this.#end({ ok: true, payload: result.value.result });
      case "failed":
      case "cancelled":
        return this.#end({ ok: false, error: decodeFailure(result.value, this.run.converter) });
      case undefined:
        throw new Error(`the core resolved Nexus operation ${this.seq} with nothing`);
    }
  }

  /** Settles the awaiter now, or when its start or end is known. */
  attach(awaiter: NexusAwaiter): void {
    this.#waiting.add(awaiter);
    if (this.#ending !== undefined) this.#settle(awaiter);
  }

  detach(awaiter: NexusAwaiter): void {
    this.#waiting.delete(awaiter);
  }

  #end(ending: Ending): void {
    this.#ending = ending;
    this.run.nexusOperations.delete(this.seq);
    for (const awaiter of [...this.#waiting]) this.#settle(awaiter);
    // Copied for later: the payload is a view of the activation's bytes, which are reused.
    if (ending.ok && ending.payload !== undefined) {
      this.#ending = { ok: true, payload: copyPayload(ending.payload) };
    }
  }

  #settle(awaiter: NexusAwaiter): void {
    this.#waiting.delete(awaiter);
    const ending = this.#ending;
    if (ending?.ok === false && (awaiter.stage === "end" || this.token === undefined)) {
      awaiter.fail(ending.error);
    } else if (awaiter.stage === "start") awaiter.started();
    else awaiter.fulfil(this.#value(ending?.ok === true ? ending.payload : undefined));
  }

  /**
   * A result that does not decode fails the task; a deployment with the right codec continues it.
   */
  #value(payload: WirePayload | undefined): unknown {
    if (payload === undefined) return undefined;
    const { fromTransferType } = this.#call;
    try {
      const value = this.run.converter.fromPayload(payload);
      return fromTransferType === undefined ? value : fromTransferType(value);
    } catch (e) {
      this.run.fail(e as Error);
      throw e;
    }
  }
}

/** Waits for the start or the end of an operation. */
export class NexusAwaiter extends Awaiter<unknown> {
  readonly waitsFor: "nexusStart" | "nexusOperation";
  readonly external = true;
  readonly stage: "start" | "end";
  readonly #operation: NexusOperation;
  readonly #starts: boolean;
  readonly #handle: (() => unknown) | undefined;

  /**
   * `starts`: this call started the operation, and cancels it when its scope ends. `handle`:
   * returns the result of a wait for the start.
   */
  constructor(
    fiber: Fiber,
    operation: NexusOperation,
    stage: "start" | "end",
    starts: boolean,
    handle?: () => unknown,
  ) {
    super(fiber);
    this.#handle = handle;
    this.#operation = operation;
    this.stage = stage;
    this.waitsFor = stage === "start" ? "nexusStart" : "nexusOperation";
    this.#starts = starts;
    operation.attach(this);
  }

  override get seq(): number {
    return this.#operation.seq;
  }

  started(): void {
    this.fulfil(this.#handle?.());
  }

  describe(): string {
    return `${this.#operation}`;
  }

  cancel(reason: unknown): void {
    // Only the wait ends; a shielded operation continues.
    if (this.#operation.shielded && !this.fiber.shielded) this.fail(reason);
    else this.#operation.cancel(reason);
  }

  override abandon(reason: unknown): void {
    this.#operation.detach(this);
    this.fail(reason);
    if (this.#starts) this.#operation.cancel(reason);
  }
}

/** The failure of an operation that was canceled by its handle. */
export function cancelledByCaller(operation: NexusOperation): CancelledFailure {
  return new CancelledFailure(`${operation} was cancelled`);
}
