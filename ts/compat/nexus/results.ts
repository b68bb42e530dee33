// Result of the start handler of a TemporalOperationHandler: a value, or the token of a running
// operation.
import type { StartResult } from "./types.ts";

const RESULT: unique symbol = Symbol("temporal_nexus_TemporalOperationResult");

/** Result of an operation's start. */
export interface TemporalOperationResult<T> {
  /** @internal In the form for a service. */
  readonly [RESULT]: StartResult<T>;
}

/** Creates results of starts. */
export const TemporalOperationResult = {
  /** The operation has completed with this value. */
  sync: <T>(value: T): TemporalOperationResult<T> => ({ [RESULT]: { isAsync: false, value } }),
  /** The operation continues; callers identify it by this token. */
  async: <T = unknown>(token: string): TemporalOperationResult<T> => ({
    [RESULT]: { isAsync: true, token },
  }),
};

/** Returns the form for a service. */
export function startResult<T>(result: TemporalOperationResult<T>): StartResult<T> {
  return result[RESULT];
}
