// Types of Nexus operations: structural types of the program's own package `nexus-rpc`, which is
// not imported. Input and output types are inferred from its definitions.
import type { TypeInfo } from "../common/type_info.ts";

/** Effect of a scope's cancellation on a Nexus operation. */
export const NexusOperationCancellationType = {
  ABANDON: "ABANDON",
  TRY_CANCEL: "TRY_CANCEL",
  WAIT_CANCELLATION_REQUESTED: "WAIT_CANCELLATION_REQUESTED",
  WAIT_CANCELLATION_COMPLETED: "WAIT_CANCELLATION_COMPLETED",
} as const;
/** Effect of a scope's cancellation on a Nexus operation. */
export type NexusOperationCancellationType = keyof typeof NexusOperationCancellationType;

interface ValueType<T> {
  transferTypeConverter?: {
    fromTransferType(value: unknown): T;
    toTransferType(value: T): unknown;
  };
}

/** An operation: `operation<Input, Output>()` of nexus-rpc. */
export interface NexusOperationDefinition<I, O> {
  /** Name in the service. */
  name: string;
  inputType?: ValueType<I>;
  /** Type of the result. */
  outputType?: ValueType<O>;
}

/** A service: `service(name, operations)` of nexus-rpc. */
export interface NexusServiceDefinition {
  name: string;
  /** Operations by key. */
  // deno-lint-ignore no-explicit-any
  operations: Record<string, NexusOperationDefinition<any, any>>;
}

/** Input type of an operation. */
// deno-lint-ignore no-explicit-any
export type NexusOperationInput<O> = O extends { inputType?: ValueType<infer I> } ? I : any;
/** Result type of an operation. */
// deno-lint-ignore no-explicit-any
export type NexusOperationOutput<O> = O extends { outputType?: ValueType<infer R> } ? R : any;
/** Keys of the operations of a service. */
export type NexusOperationKey<Operations> = keyof Operations & string;

/** Type hints of an operation's call. */
export interface OperationTypes {
  readonly inputType?: TypeInfo;
  readonly outputType?: TypeInfo;
}
