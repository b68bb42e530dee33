// nexus<T>(service, options): a typed proxy over the operations of a Nexus service. A service is
// given by name, or by its nexus-rpc definition, which is read without importing that package.
import { type OptionNames, rejectUnknownOptions } from "../base/option_names.ts";
import type { Duration } from "../converter/duration.ts";
import {
  cancelledByCaller,
  NEXUS_CANCELLATION,
  NexusAwaiter,
  NexusOperation,
  type NexusOperationShape,
} from "../executor/primitives/nexus.ts";
import { callingFiber, waitingFiber } from "../executor/scheduler/api_guard.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { activityProxy, type AnyFunction } from "./activities.ts";
import { ms, optionalText, quoteValue } from "./retry.ts";

/** Timeouts of a Nexus operation. Durations: milliseconds or text such as "10s". */
export interface NexusOperationOptions {
  /**
   * Longest time from the call to the end, including all attempts. Default: that of the cluster.
   */
  readonly scheduleToClose?: Duration;
  /** Longest time from the call to its start. Default: no limit. Ignored by older servers. */
  readonly scheduleToStart?: Duration;
  /** Longest time from its start to its end. Default: no limit. Ignored by older servers. */
  readonly startToClose?: Duration;
  /**
   * On cancellation: "waitCancellationCompleted" (default) requests it and waits for the end of the
   * operation; "waitCancellationRequested" waits until the handler has the request; "tryCancel"
   * requests it and rejects at once; "abandon" rejects at once and lets it run.
   */
  readonly cancellationType?:
    | "waitCancellationCompleted"
    | "waitCancellationRequested"
    | "tryCancel"
    | "abandon";
  /** Headers for the handler, in addition to the input. Neither encoded nor encrypted. */
  readonly headers?: { readonly [name: string]: string };
  /** One line for display in the history. */
  readonly summary?: string;
}

/** Options of {@link nexus}. */
export interface NexusOptions extends NexusOperationOptions {
  /** Name of the endpoint in the cluster. */
  readonly endpoint: string;
}

/** A started Nexus operation with result `R`. */
export interface NexusOperationHandle<R = unknown> {
  readonly service: string;
  readonly operation: string;
  /** The operation token; "" if it completed synchronously. */
  readonly token: string;
  /**
   * Waits for the end. Resolves to the result, or rejects with a NexusOperationFailure that has the
   * cause. May be called repeatedly; a canceled wait does not cancel the operation.
   */
  result(): Promise<R>;
  /**
   * Requests cancellation according to `cancellationType`; `result()` has the outcome. Later calls:
   * no effect.
   */
  cancel(): void;
}

/** A Nexus operation as a function of workflow code. */
export interface NexusCall<A extends unknown[], R> {
  /**
   * Starts the operation and waits for its result. Rejects with a NexusOperationFailure that has
   * the cause.
   */
  (...input: A): Promise<R>;
  /** Starts the operation, waits for its start, and returns a handle. */
  start(...input: A): Promise<NexusOperationHandle<R>>;
  /** Returns the same operation with options that override those of the service. */
  with(options: NexusOperationOptions): NexusCall<A, R>;
}

/** Operations of a service that is declared as a type: functions with one input or none. */
export type NexusOperations<T> = {
  readonly [K in keyof T as T[K] extends AnyFunction ? K : never]: T[K] extends AnyFunction
    ? NexusCall<Parameters<T[K]>, Awaited<ReturnType<T[K]>>>
    : never;
};

interface ValueType<T> {
  readonly transferTypeConverter?: {
    fromTransferType(value: unknown): T;
    toTransferType(value: T): unknown;
  };
}

// deno-lint-ignore no-explicit-any
type AnyType = ValueType<any>;

/** A service, as made by `nexus.service(...)` of nexus-rpc. */
export interface NexusService {
  readonly name: string;
  /** Operations by key. */
  readonly operations: {
    readonly [key: string]: { readonly name: string; inputType?: AnyType; outputType?: AnyType };
  };
}

type InputOf<O> = O extends { inputType?: ValueType<infer I> } ? I : unknown;
type OutputOf<O> = O extends { outputType?: ValueType<infer R> } ? R : unknown;
/** No input means no argument. */
type InputArgs<I> = [I] extends [void | undefined] ? [] : [input: I];

/** The operations of a nexus-rpc service. */
export type NexusServiceOperations<S extends NexusService> = {
  readonly [K in keyof S["operations"]]: NexusCall<
    InputArgs<InputOf<S["operations"][K]>>,
    OutputOf<S["operations"][K]>
  >;
};

/**
 * Returns the operations of a Nexus service at an endpoint of the cluster: of type `T` for a name,
 * or as in its definition. Only on a Temporal cluster: with the embedded engine the workflow task
 * fails.
 *
 * @example
 * const payments = nexus<{ charge(order: Order): Receipt }>("payments", { endpoint: "billing", scheduleToClose: "5 minutes" });
 * const receipt = await payments.charge(order);
 * const handle = await payments.charge.with({ cancellationType: "tryCancel" }).start(order);
 */
export function nexus<T>(service: string, options: NexusOptions): NexusOperations<T>;
/**
 * Returns the operations of a service made by `nexus.service(...)` of nexus-rpc.
 *
 * @example
 * const payments = nexus(paymentsService, { endpoint: "billing" });
 */
export function nexus<S extends NexusService>(
  service: S,
  options: NexusOptions,
): NexusServiceOperations<S>;
export function nexus(service: NexusService | string, options: NexusOptions): object {
  const name: unknown = typeof service === "string" ? service : service?.name;
  if (typeof name !== "string" || name === "") {
    throw new TypeError(
      `nexus needs the name of a service, or a nexus-rpc service, not ${quoteValue(service)}`,
    );
  }
  rejectUnknownOptions("nexus", options, NEXUS_OPTIONS);
  const { endpoint, ...common } = options ?? {};
  if (typeof endpoint !== "string" || endpoint === "") {
    throw new TypeError(
      `nexus: endpoint must be the name of a Nexus endpoint of the cluster, not ${
        quoteValue(endpoint)
      }`,
    );
  }
  const base = { ...NOTHING, endpoint, service: name };
  const shape = { ...base, ...checked(common, base) };
  return activityProxy(
    (key) => makeCall({ ...shape, ...operationOf(service, key) }),
    "the operations of a Nexus service",
  );
}

function operationOf(service: NexusService | string, key: string) {
  if (typeof service === "string") return { operation: key };
  const operations = service.operations ?? {};
  if (!Object.hasOwn(operations, key)) {
    const known = Object.keys(operations).join(", ");
    throw new TypeError(
      `the Nexus service "${service.name}" has no operation "${key}"; it has ${
        known === "" ? "none" : known
      }`,
    );
  }
  const { name, inputType, outputType } = operations[key]!;
  const takes = inputType?.transferTypeConverter;
  const gives = outputType?.transferTypeConverter;
  return {
    operation: name,
    toTransferType: takes && ((value: unknown) => takes.toTransferType(value)),
    fromTransferType: gives && ((value: unknown) => gives.fromTransferType(value)),
  };
}

function makeCall(shape: NexusOperationShape): NexusCall<unknown[], unknown> {
  const api = `Nexus operation "${shape.operation}"`;
  const begin = (
    input: unknown[],
    wait: (operation: NexusOperation) => NexusAwaiter,
  ): Promise<unknown> => {
    if (input.length > 1) {
      throw new TypeError(
        `${api} needs one input, not ${input.length}: pass an object or an array`,
      );
    }
    const fiber = waitingFiber(api);
    if (fiber instanceof Error) return rejected(fiber);
    return wait(new NexusOperation(fiber, shape, input[0])).promise;
  };
  const call = (...input: unknown[]) =>
    begin(input, (operation) => new NexusAwaiter(operation.fiber, operation, "end", true));
  return Object.assign(call, {
    start: (...input: unknown[]) =>
      begin(
        input,
        (operation) =>
          new NexusAwaiter(operation.fiber, operation, "start", true, () =>
            handleOf(shape, operation)),
      ) as Promise<NexusOperationHandle>,
    with(over: NexusOperationOptions) {
      rejectUnknownOptions(api, over, OPERATION_OPTIONS);
      return makeCall({ ...shape, ...checked(over ?? {}, shape) });
    },
  });
}

function handleOf(
  { service, operation: name }: NexusOperationShape,
  operation: NexusOperation,
): NexusOperationHandle {
  return Object.freeze({
    service,
    operation: name,
    token: operation.token!,
    result() {
      const fiber = waitingFiber("result of a Nexus operation");
      if (fiber instanceof Error) return rejected(fiber);
      return new NexusAwaiter(fiber, operation, "end", false).promise;
    },
    cancel() {
      callingFiber("cancel of a Nexus operation");
      operation.cancel(cancelledByCaller(operation));
    },
  }) as NexusOperationHandle;
}

const NOTHING: Omit<NexusOperationShape, "endpoint" | "service"> = {
  operation: "",
  scheduleToCloseTimeoutMs: 0,
  scheduleToStartTimeoutMs: 0,
  startToCloseTimeoutMs: 0,
  nexusHeader: {},
  cancellationType: NEXUS_CANCELLATION.waitCancellationCompleted,
  summary: undefined,
};

const NEXUS_OPTIONS: OptionNames<NexusOptions> = {
  ...{
    endpoint: 1,
    scheduleToClose: 1,
    scheduleToStart: 1,
    startToClose: 1,
    cancellationType: 1,
    headers: 1,
    summary: 1,
  },
};
const { endpoint: _ofTheProxy, ...OPERATION_OPTIONS } = NEXUS_OPTIONS;

/** Converts the options for the executor, over `before`. Throws for invalid values. */
function checked(options: NexusOperationOptions, before: NexusOperationShape) {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(`nexus: options must be an object, not ${quoteValue(options)}`);
  }
  const { cancellationType: type, headers = before.nexusHeader } = options;
  if (type !== undefined && !Object.hasOwn(NEXUS_CANCELLATION, type)) {
    throw new TypeError(
      `cancellationType must be one of ${Object.keys(NEXUS_CANCELLATION).join(", ")}, not ${
        JSON.stringify(type)
      }`,
    );
  }
  if (
    typeof headers !== "object" || headers === null ||
    !Object.values(headers).every((value) => typeof value === "string")
  ) {
    throw new TypeError("nexus: headers must be an object that maps names to strings");
  }
  return {
    scheduleToCloseTimeoutMs: ms(
      "scheduleToClose",
      options.scheduleToClose,
      before.scheduleToCloseTimeoutMs,
    ),
    scheduleToStartTimeoutMs: ms(
      "scheduleToStart",
      options.scheduleToStart,
      before.scheduleToStartTimeoutMs,
    ),
    startToCloseTimeoutMs: ms("startToClose", options.startToClose, before.startToCloseTimeoutMs),
    cancellationType: type === undefined ? before.cancellationType : NEXUS_CANCELLATION[type],
    nexusHeader: { ...headers },
    summary: optionalText("nexus: summary", options.summary) ?? before.summary,
  };
}
