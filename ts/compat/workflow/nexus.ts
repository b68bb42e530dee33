// createNexusServiceClient: operations of Nexus services. Operations are counted here, as in the
// official SDK: one in a canceled scope is never sent, but uses a number. The promise of the result
// is created when the server reports the start.
import {
  CommandKind,
  NexusOperationCancellationType as CancellationTypeNumber,
  ScheduleNexusOperation,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { timeoutMs } from "../common/time.ts";
import { currentCompatRun } from "../current.ts";
import { callThrough } from "../interception.ts";
import type { CompatRun } from "../run.ts";
import { encodeTypedValue } from "../typed_values.ts";
import { encodeGroups } from "./event_groups.ts";
import type {
  StartNexusOperationInput,
  StartNexusOperationOptions,
  StartNexusOperationOutput,
} from "./interceptors.ts";
import type {
  NexusOperationCancellationType,
  NexusOperationInput,
  NexusOperationKey,
  NexusOperationOutput,
  NexusServiceDefinition,
  OperationTypes,
} from "./nexus_types.ts";
import { joinScope } from "./scope.ts";
import { encodeWith } from "../../executor/program/encode.ts";

/** A started operation. */
export interface NexusOperationHandle<T> {
  readonly service: string;
  readonly operation: string;
  /** Token from the handler; empty for a synchronous result. */
  readonly token?: string;
  /** Waits for its result. Rejects with a NexusOperationFailure. */
  result(): Promise<T>;
}

/** Calls the operations of one service at one endpoint. */
export interface NexusServiceClient<T extends NexusServiceDefinition> {
  /** Starts an operation and waits for its result. */
  executeOperation<O extends T["operations"][keyof T["operations"]]>(
    op: O,
    input: NexusOperationInput<O>,
    options?: Partial<StartNexusOperationOptions>,
  ): Promise<NexusOperationOutput<O>>;
  /** Same, with the operation's key in the service. */
  executeOperation<K extends NexusOperationKey<T["operations"]>>(
    op: K,
    input: NexusOperationInput<T["operations"][K]>,
    options?: Partial<StartNexusOperationOptions>,
  ): Promise<NexusOperationOutput<T["operations"][K]>>;
  /** Starts an operation and waits for its start. */
  startOperation<O extends T["operations"][keyof T["operations"]]>(
    op: O,
    input: NexusOperationInput<O>,
    options?: Partial<StartNexusOperationOptions>,
  ): Promise<NexusOperationHandle<NexusOperationOutput<O>>>;
  /** Same, with the operation's key in the service. */
  startOperation<K extends NexusOperationKey<T["operations"]>>(
    op: K,
    input: NexusOperationInput<T["operations"][K]>,
    options?: Partial<StartNexusOperationOptions>,
  ): Promise<NexusOperationHandle<NexusOperationOutput<T["operations"][K]>>>;
}

/** Options of a client. */
export interface NexusServiceClientOptions<T> {
  endpoint: string;
  /** Service definition, created by `service()` of nexus-rpc. */
  service: T;
}

type AnyOperation = OperationTypes & { readonly name: string };
type CallOptions = Partial<StartNexusOperationOptions> | undefined;

class ServiceClient {
  readonly #endpoint: string;
  readonly #service: NexusServiceDefinition;

  constructor({ endpoint, service }: NexusServiceClientOptions<NexusServiceDefinition>) {
    this.#endpoint = endpoint;
    this.#service = service;
  }

  async executeOperation(
    operation: string | AnyOperation,
    input: unknown,
    options?: CallOptions,
  ): Promise<unknown> {
    const handle = await this.startOperation(operation, input, options);
    return await handle.result();
  }

  async startOperation(
    operation: string | AnyOperation,
    input: unknown,
    options?: CallOptions,
  ): Promise<NexusOperationHandle<unknown>> {
    const run = currentCompatRun("Nexus operations may only be started from a Workflow Execution");
    const service = this.#service.name;
    const definition = typeof operation === "string"
      ? this.#service.operations[operation] as AnyOperation
      : operation;
    // The server rejects an unknown operation, as with the official SDK.
    const name = definition?.name as string;
    const last = (input: StartNexusOperationInput) => startIn(run, input);
    const { inputType, outputType } = definition ?? {};
    const started = await callThrough(run, "outbound", "startNexusOperation", last)({
      endpoint: this.#endpoint,
      service,
      operation: name,
      options: {
        ...options,
        cancellationType: options?.cancellationType ?? "WAIT_CANCELLATION_COMPLETED",
      },
      headers: {},
      seq: run.nextNexusSeq++,
      input,
      ...(inputType !== undefined && { inputType }),
      ...(outputType !== undefined && { outputType }),
    });
    const { token, result } = started;
    // deno-lint-ignore require-await
    return { service, operation: name, token, result: async () => result } as NexusOperationHandle<
      unknown
    >;
  }
}

/** Returns a client for the operations of a service at an endpoint. */
export function createNexusServiceClient<T extends NexusServiceDefinition>(
  options: NexusServiceClientOptions<T>,
): NexusServiceClient<T> {
  return new ServiceClient(options) as unknown as NexusServiceClient<T>;
}

function startIn(
  run: CompatRun,
  input: StartNexusOperationInput,
): Promise<StartNexusOperationOutput> {
  const { seq, service, operation, outputType, options } = input;
  return new Promise<StartNexusOperationOutput>((resolve, reject) => {
    const alive = joinScope(reject, () => {
      if (!run.nexusStarts.has(seq) && !run.nexusEnds.has(seq)) return;
      run.cancelCommand(CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION, seq, groups);
    });
    if (!alive) return;
    const attributes = encodeCall(run, input);
    const groups = encodeGroups(run, options?.eventGroups);
    run.command(CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION, attributes, groups);
    const completion = { resolve: resolve as (value: unknown) => void, reject, outputType };
    run.nexusStarts.set(
      seq,
      run.waitsAt(`Nexus operation "${operation}" of service "${service}"`, completion),
    );
  });
}

function encodeCall(run: CompatRun, input: StartNexusOperationInput): Uint8Array {
  const { seq, endpoint, service, operation, options, headers } = input;
  const attributes = ScheduleNexusOperation.fromPartial({
    seq,
    endpoint,
    service,
    operation,
    nexusHeader: headers,
    input: encodeTypedValue(run.converter, input.input, input.inputType),
    scheduleToCloseTimeoutMs: timeoutMs(options?.scheduleToCloseTimeout),
    scheduleToStartTimeoutMs: timeoutMs(options?.scheduleToStartTimeout),
    startToCloseTimeoutMs: timeoutMs(options?.startToCloseTimeout),
    cancellationType: cancellationType(options?.cancellationType),
    ...(options?.summary === undefined
      ? {}
      : { summary: run.converter.toPayload(options.summary) }),
  });
  return encodeWith(ScheduleNexusOperation, attributes);
}

function cancellationType(
  type: NexusOperationCancellationType | undefined,
): CancellationTypeNumber {
  switch (type) {
    case undefined:
    case "WAIT_CANCELLATION_COMPLETED":
      return CancellationTypeNumber.NEXUS_OPERATION_CANCELLATION_TYPE_WAIT_CANCELLATION_COMPLETED;
    case "WAIT_CANCELLATION_REQUESTED":
      return CancellationTypeNumber.NEXUS_OPERATION_CANCELLATION_TYPE_WAIT_CANCELLATION_REQUESTED;
    case "TRY_CANCEL":
      return CancellationTypeNumber.NEXUS_OPERATION_CANCELLATION_TYPE_TRY_CANCEL;
    case "ABANDON":
      return CancellationTypeNumber.NEXUS_OPERATION_CANCELLATION_TYPE_ABANDON;
    default:
      throw new TypeError(`Invalid NexusOperationCancellationType: ${String(type)}`);
  }
}
