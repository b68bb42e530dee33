// Types of Nexus operations. What the package `nexus-rpc` makes, as far as workflow code needs it: nothing of it is imported here, for it is the program's own
// package. Types of operations are read from what its definitions say of their input and output.
import type { TypeInfo } from "../common/type_info.ts";

/** What a cancellation of its scope does to a Nexus operation. */
export const NexusOperationCancellationType = {
  ABANDON: "ABANDON",
  TRY_CANCEL: "TRY_CANCEL",
  WAIT_CANCELLATION_REQUESTED: "WAIT_CANCELLATION_REQUESTED",
  WAIT_CANCELLATION_COMPLETED: "WAIT_CANCELLATION_COMPLETED",
} as const;
/** What a cancellation of its scope does to a Nexus operation. */
export type NexusOperationCancellationType = keyof typeof NexusOperationCancellationType;

interface ValueType<T> {
  transferTypeConverter?: { fromTransferType(value: unknown): T; toTransferType(value: T): unknown };
}

/** An operation of a service: `operation<Input, Output>()` of nexus-rpc. */
export interface NexusOperationDefinition<I, O> {
  /** Its name at the service. */
  name: string;
  /** The type of its input. */
  inputType?: ValueType<I>;
  /** The type of its result. */
  outputType?: ValueType<O>;
}

/** A service: `service(name, operations)` of nexus-rpc. */
export interface NexusServiceDefinition {
  /** Its name. */
  name: string;
  /** Its operations, each under its key. */
  // deno-lint-ignore no-explicit-any
  operations: Record<string, NexusOperationDefinition<any, any>>;
}

/** What an operation takes. */
// deno-lint-ignore no-explicit-any
export type NexusOperationInput<O> = O extends { inputType?: ValueType<infer I> } ? I : any;
/** What an operation gives. */
// deno-lint-ignore no-explicit-any
export type NexusOperationOutput<O> = O extends { outputType?: ValueType<infer R> } ? R : any;
/** Keys of the operations of a service. */
export type NexusOperationKey<Operations> = keyof Operations & string;

/** What is known of an operation's values when it is called. */
export interface OperationTypes {
  readonly inputType?: TypeInfo;
  readonly outputType?: TypeInfo;
}
