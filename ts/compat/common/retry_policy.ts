// Retry policies of programs and of the wire.
import { ValueError } from "./errors.ts";
import { checkRetryPolicy } from "./option_names.ts";
import type { RetryPolicy } from "./options.ts";
import { msOptionalToTs, msToTs, optionalTsToMs, type Timestamp } from "./proto_time.ts";
import { msOptionalToNumber, msToNumber } from "./time.ts";

/** A retry policy as the wire has it. */
export interface ProtoRetryPolicy {
  /** Attempts in all. */
  maximumAttempts?: number | null;
  /** Time until the second attempt. */
  initialInterval?: Timestamp | null;
  /** The longest time between attempts. */
  maximumInterval?: Timestamp | null;
  /** Factor from one interval to the next. */
  backoffCoefficient?: number | null;
  /** Types of failures that are not tried again. */
  nonRetryableErrorTypes?: string[] | null;
}

/** What the wire has for a policy. Throws a ValueError for one that says nothing sensible. */
export function compileRetryPolicy(policy: RetryPolicy): ProtoRetryPolicy {
  checkRetryPolicy(policy);
  const { backoffCoefficient, nonRetryableErrorTypes } = policy;
  if (backoffCoefficient !== undefined && backoffCoefficient !== null && backoffCoefficient <= 0) {
    throw new ValueError("RetryPolicy.backoffCoefficient must be greater than 0");
  }
  // No limit is what the wire has where the field is not set.
  const maximumAttempts = policy.maximumAttempts === Number.POSITIVE_INFINITY ? undefined : policy.maximumAttempts;
  if (maximumAttempts !== undefined && maximumAttempts !== null) {
    if (maximumAttempts <= 0) throw new ValueError("RetryPolicy.maximumAttempts must be a positive integer");
    if (!Number.isInteger(maximumAttempts)) throw new ValueError("RetryPolicy.maximumAttempts must be an integer");
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

/** The policy of what the wire has. */
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
