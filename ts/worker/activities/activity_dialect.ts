// How activities are called, and what their errors mean. Native activities and those of
// `@temporalio/activity` differ in context and error classes; for the latter a server gets what the
// official worker sends. Heartbeats, limits, reports and retries are shared.
import { type ActivityContext, callActivity } from "../../activity/context.ts";
import { toFailure } from "../../converter/failure_converter.ts";
import { CancelledFailure } from "../../converter/failures.ts";
import { fromPayloads, type Payload, type PayloadConverter } from "../../converter/payload.ts";
import { isA } from "../../converter/thrown.ts";
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { PollActivityTaskQueueResponse } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { RegisteredActivity } from "./activity_registry.ts";
import { attemptEnd, type Told } from "./attempt_end.ts";

/** Runs the function of an activity; rejects with its error. */
export type RunActivity = (context: ActivityContext, args: unknown[]) => Promise<unknown>;

/** The activity whose values are converted. */
export interface ActivityOwner {
  readonly activityId: string;
  /** Id of the workflow that scheduled it. */
  readonly workflowId: string;
  readonly isLocal: boolean;
}

/** The rules of one kind of activities. */
export interface ActivityDialect {
  /** The activity with this name runs all types without a function. */
  readonly anyType?: string;
  /**
   * A result that the converter rejects fails the activity permanently; otherwise only the attempt.
   */
  readonly refusedResultIsFinal: boolean;
  /** The activities log their failures themselves. */
  readonly logsFailures?: boolean;
  /** Returns the converter of one activity's values. Absent: the worker's converter. */
  converterFor?(converter: PayloadConverter, of: ActivityOwner): PayloadConverter;
  /** Returns the arguments of an activity of this type. Absent: the values of their payloads. */
  argumentsOf?(
    activityType: string,
    payloads: readonly Payload[],
    converter: PayloadConverter,
  ): unknown[];
  /** Returns the payload of its result. Absent: the converter's. */
  resultOf?(activityType: string, result: unknown, converter: PayloadConverter): Payload;
  /** Returns a function that calls a registered activity. */
  call(activity: RegisteredActivity): RunActivity;
  /** Returns the error of a failed attempt, or STOPPED if it was canceled and stopped. */
  end(error: unknown, told: Told): unknown;
  /** Returns the failure to report. Does not throw. */
  toFailure(error: unknown, converter: PayloadConverter): Failure;
  /** Returns the details of a cancellation. */
  detailsOf(error: unknown): unknown[];
}

/** Returns the settings of one attempt, with the converter of its values. */
export function settingsFor<
  S extends { readonly converter: PayloadConverter; readonly dialect: ActivityDialect },
>(
  settings: S,
  task: PollActivityTaskQueueResponse,
  isLocal: boolean,
): S {
  const { converter, dialect } = settings;
  if (dialect.converterFor === undefined) return settings;
  const owner = {
    activityId: task.activityId,
    workflowId: task.workflowExecution?.workflowId ?? "",
    isLocal,
  };
  return { ...settings, converter: dialect.converterFor(converter, owner) };
}

interface Values {
  readonly converter: PayloadConverter;
  readonly dialect: ActivityDialect;
}

/** Returns the arguments of an attempt. */
export function attemptArguments(
  { converter, dialect }: Values,
  { activityType, input }: PollActivityTaskQueueResponse,
): unknown[] {
  const payloads = input?.payloads ?? [];
  return dialect.argumentsOf?.(activityType?.name ?? "", payloads, converter) ??
    fromPayloads(converter, payloads);
}

/** Returns the payload of an attempt's result. */
export function resultOf(
  { converter, dialect }: Values,
  { activityType }: PollActivityTaskQueueResponse,
  result: unknown,
): Payload {
  return dialect.resultOf?.(activityType?.name ?? "", result, converter) ??
    converter.toPayload(result);
}

/** Activities of this package. */
export const NATIVE_ACTIVITIES: ActivityDialect = {
  refusedResultIsFinal: true,
  call: ({ run, self }) => async (context, args) => await callActivity(run, self, context, args),
  end: attemptEnd,
  toFailure,
  detailsOf: (error) => isA(error, CancelledFailure) ? error.details : [],
};
