// Retry policies of standalone activities: whether another attempt follows a failed one, and when.
// The order of the checks is that of core-rs/src/engine/retry.rs.
import { create } from "@bufbuild/protobuf";
import {
  type RetryPolicy,
  RetryPolicySchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  RetryState,
  TimeoutType,
} from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { invalid } from "../host_bytes.ts";
import { durationMsOrZero, durationOfMs } from "../schedules/durations.ts";

const DEFAULT_INTERVAL_MS = 1000;
const DEFAULT_COEFFICIENT = 2;
/** Default of the maximum interval, as a multiple of the initial one. */
const MAX_INTERVAL_FACTOR = 100;

/** Returns the policy with a server's defaults. Throws a ServiceError for an invalid policy. */
export function checkedRetryPolicy(given: RetryPolicy | undefined): RetryPolicy {
  const policy = given === undefined ? create(RetryPolicySchema) : { ...given };
  const initialMs = durationMsOrZero(policy.initialInterval);
  if (initialMs < 0) throw invalid("InitialInterval cannot be negative on retry policy.");
  if (initialMs === 0) policy.initialInterval = durationOfMs(DEFAULT_INTERVAL_MS);
  if (policy.backoffCoefficient === 0) policy.backoffCoefficient = DEFAULT_COEFFICIENT;
  const maximumMs = durationMsOrZero(policy.maximumInterval);
  if (maximumMs < 0) throw invalid("MaximumInterval cannot be negative on retry policy.");
  if (maximumMs === 0) {
    policy.maximumInterval = durationOfMs((initialMs || DEFAULT_INTERVAL_MS) * MAX_INTERVAL_FACTOR);
  }
  if (policy.maximumAttempts === 1) return policy;
  if (!(policy.backoffCoefficient >= 1)) {
    throw invalid("BackoffCoefficient cannot be less than 1 on retry policy.");
  }
  if (maximumMs > 0 && maximumMs < (initialMs || DEFAULT_INTERVAL_MS)) {
    throw invalid("MaximumInterval cannot be less than InitialInterval on retry policy.");
  }
  if (policy.maximumAttempts < 0) {
    throw invalid("MaximumAttempts cannot be negative on retry policy.");
  }
  return policy;
}

const TIMEOUT_NAMES: { readonly [type: number]: string } = {
  [TimeoutType.START_TO_CLOSE]: "StartToClose",
  [TimeoutType.HEARTBEAT]: "Heartbeat",
};

/** Whether another attempt may follow the failure. */
export function isRetryable({ failureInfo }: Failure, nonRetryable: readonly string[]): boolean {
  switch (failureInfo.case) {
    case "terminatedFailureInfo":
    case "canceledFailureInfo":
      return false;
    case "timeoutFailureInfo": {
      const name = TIMEOUT_NAMES[failureInfo.value.timeoutType];
      return name !== undefined && !nonRetryable.includes(`TemporalTimeout:${name}`);
    }
    case "serverFailureInfo":
      return !failureInfo.value.nonRetryable;
    case "applicationFailureInfo":
      return !failureInfo.value.nonRetryable && !nonRetryable.includes(failureInfo.value.type);
    default:
      return true;
  }
}

/** The interval after an attempt, in ms. */
export function retryIntervalMs(policy: RetryPolicy, attempt: number): number {
  const maximumMs = durationMsOrZero(policy.maximumInterval);
  const grownMs = durationMsOrZero(policy.initialInterval) *
    policy.backoffCoefficient ** (attempt - 1);
  return maximumMs > 0 && !(grownMs <= maximumMs) ? maximumMs : grownMs;
}

/** The next attempt: its time and its distance, in ms. */
export interface NextAttempt {
  readonly atMs: number;
  readonly intervalMs: number;
}

/** Returns the next attempt, or why none follows. `expirationMs` 0: the activity does not expire. */
export function nextAttempt(
  policy: RetryPolicy,
  attempt: number,
  failure: Failure,
  { nowMs, expirationMs }: { readonly nowMs: number; readonly expirationMs: number },
): NextAttempt | RetryState {
  if (!isRetryable(failure, policy.nonRetryableErrorTypes)) return RetryState.NON_RETRYABLE_FAILURE;
  if (policy.maximumAttempts > 0 && attempt >= policy.maximumAttempts) {
    return RetryState.MAXIMUM_ATTEMPTS_REACHED;
  }
  const { failureInfo } = failure;
  const wanted = failureInfo.case === "applicationFailureInfo"
    ? failureInfo.value.nextRetryDelay
    : undefined;
  const intervalMs = wanted === undefined
    ? retryIntervalMs(policy, attempt)
    : Math.max(0, durationMsOrZero(wanted));
  const atMs = nowMs + intervalMs;
  if (expirationMs > 0 && atMs > expirationMs) return RetryState.TIMEOUT;
  return { atMs, intervalMs };
}
