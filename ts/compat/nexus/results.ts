// How the start handler of a TemporalOperationHandler ends: with a value, or with the token of what goes on.
import type { StartResult } from "./types.ts";

const RESULT: unique symbol = Symbol("temporal_nexus_TemporalOperationResult");

/** How the start of an operation ended. */
export interface TemporalOperationResult<T> {
  /** @internal In the form that a service takes. */
  readonly [RESULT]: StartResult<T>;
}

/** Makes results of starts. */
export const TemporalOperationResult = {
  /** The operation has ended, with this value. */
  sync: <T>(value: T): TemporalOperationResult<T> => ({ [RESULT]: { isAsync: false, value } }),
  /** The operation goes on; its callers know it by this token. */
  async: <T = unknown>(token: string): TemporalOperationResult<T> => ({ [RESULT]: { isAsync: true, token } }),
};

/** In the form that a service takes. */
export function startResult<T>(result: TemporalOperationResult<T>): StartResult<T> {
  return result[RESULT];
}
