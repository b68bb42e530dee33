// Converts retry policies for messages and back.
import { ValueError } from "./errors.ts";
import { checkRetryPolicy } from "./option_names.ts";
import type { RetryPolicy } from "./options.ts";
import { msOptionalToTs, msToTs, optionalTsToMs, type Timestamp } from "./proto_time.ts";
import { msOptionalToNumber, msToNumber } from "./time.ts";

/** A retry policy in a message. */
export interface ProtoRetryPolicy {
  maximumAttempts?: number | null;
  /** Delay of the second attempt. */
  initialInterval?: Timestamp | null;
  maximumInterval?: Timestamp | null;
  /** Factor of consecutive intervals. */
  backoffCoefficient?: number | null;
  /** Types of failures that are not retried. */
  nonRetryableErrorTypes?: string[] | null;
}

/** Converts a policy to a message. Throws a ValueError for invalid values. */
export function compileRetryPolicy(policy: RetryPolicy): ProtoRetryPolicy {
  checkRetryPolicy(policy);
  const { backoffCoefficient, nonRetryableErrorTypes } = policy;
  if (backoffCoefficient !== undefined && backoffCoefficient !== null && backoffCoefficient <= 0) {
    throw new ValueError("RetryPolicy.backoffCoefficient must be greater than 0");
  }
  if (!Number.isFinite(backoffCoefficient ?? 2)) {
    throw new ValueError(
      `RetryPolicy.backoffCoefficient must be a finite number, not ${backoffCoefficient}`,
    );
  }
  // An unset field means no limit.
  const maximumAttempts = policy.maximumAttempts === Number.POSITIVE_INFINITY
    ? undefined
    : policy.maximumAttempts;
  if (maximumAttempts !== undefined && maximumAttempts !== null) {
    if (maximumAttempts <= 0) {
      throw new ValueError("RetryPolicy.maximumAttempts must be a positive integer");
    }
    if (!Number.isInteger(maximumAttempts)) {
      throw new ValueError("RetryPolicy.maximumAttempts must be an integer");
    }
  }
  const maximumInterval = msOptionalToNumber(policy.maximumInterval);
  const initialInterval = msToNumber(policy.initialInterval ?? 1000);
  if (maximumInterval === 0) throw new ValueError("RetryPolicy.maximumInterval cannot be 0");
  if (initialInterval === 0) throw new ValueError("RetryPolicy.initialInterval cannot be 0");
  if (maximumInterval !== undefined && maximumInterval < initialInterval) {
    throw new ValueError("RetryPolicy.maximumInterval cannot be less than its initialInterval");
  }
  return {
    ...(maximumAttempts !== undefined && { maximumAttempts }),
    initialInterval: msToTs(initialInterval),
    ...(maximumInterval !== undefined && { maximumInterval: msOptionalToTs(maximumInterval)! }),
    ...(backoffCoefficient !== undefined && { backoffCoefficient }),
    ...(nonRetryableErrorTypes !== undefined && { nonRetryableErrorTypes }),
  };
}

/** Converts a policy from a message. */
export function decompileRetryPolicy(policy?: ProtoRetryPolicy | null): RetryPolicy | undefined {
  if (!policy) return undefined;
  return {
    backoffCoefficient: policy.backoffCoefficient ?? undefined,
    maximumAttempts: policy.maximumAttempts ?? undefined,
    maximumInterval: optionalTsToMs(policy.maximumInterval),
    initialInterval: optionalTsToMs(policy.initialInterval),
    nonRetryableErrorTypes: policy.nonRetryableErrorTypes ?? undefined,
  } as RetryPolicy;
}
