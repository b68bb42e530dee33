// How activities are called, and what their errors mean. Native activities have rules of their own; those of `@temporalio/activity` see
// another context and throw other classes, and what a server is sent of them is what the official worker sends. Everything else of an
// attempt (heartbeats, limits, reports, retries) is the same for both.
import { type ActivityContext, callActivity } from "../activity/context.ts";
import { toFailure } from "../converter/failure_converter.ts";
import { CancelledFailure } from "../converter/failures.ts";
import { fromPayloads, type Payload, type PayloadConverter } from "../converter/payload.ts";
import { isA } from "../converter/thrown.ts";
import type { Failure } from "../api/generated/temporal/api/failure/v1/message_pb.ts";
import type { PollActivityTaskQueueResponse } from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { RegisteredActivity } from "./activity_registry.ts";
import { attemptEnd, type Told } from "./attempt_end.ts";

/** Runs the function of an activity; rejects with what it threw. */
export type RunActivity = (context: ActivityContext, args: unknown[]) => Promise<unknown>;

/** Whose values are converted. */
export interface ActivityOwner {
  /** Id of the activity. */
  readonly activityId: string;
  /** Workflow that scheduled it. */
  readonly workflowId: string;
  /** It runs in its workflow's worker. */
  readonly isLocal: boolean;
}

/** The rules of one kind of activities. */
export interface ActivityDialect {
  /** An activity of this name runs those that have none of their own. */
  readonly anyType?: string;
  /** A result that the converter refuses fails the activity for good; otherwise the attempt. */
  readonly refusedResultIsFinal: boolean;
  /** It logs its failures itself. */
  readonly logsFailures?: boolean;
  /** The converter of one activity's values, where it is not the worker's for all. */
  converterFor?(converter: PayloadConverter, of: ActivityOwner): PayloadConverter;
  /** The arguments of an activity of this name, where they are more than their payloads' values. */
  argumentsOf?(activityType: string, payloads: readonly Payload[], converter: PayloadConverter): unknown[];
  /** The payload of its result, likewise. */
  resultOf?(activityType: string, result: unknown, converter: PayloadConverter): Payload;
  /** Calls a registered function. */
  call(activity: RegisteredActivity): RunActivity;
  /** The error that an attempt failed with, or STOPPED where it was cancelled and did stop. */
  end(error: unknown, told: Told): unknown;
  /** The failure that is reported. Does not throw. */
  toFailure(error: unknown, converter: PayloadConverter): Failure;
  /** Values that a cancellation carries. */
  detailsOf(error: unknown): unknown[];
}

/** The settings of one activity's attempt: with the converter of its values. */
export function settingsFor<S extends { readonly converter: PayloadConverter; readonly dialect: ActivityDialect }>(
  settings: S,
  task: PollActivityTaskQueueResponse,
  isLocal: boolean,
): S {
  const { converter, dialect } = settings;
  if (dialect.converterFor === undefined) return settings;
  const owner = { activityId: task.activityId, workflowId: task.workflowExecution?.workflowId ?? "", isLocal };
  return { ...settings, converter: dialect.converterFor(converter, owner) };
}

interface Values {
  readonly converter: PayloadConverter;
  readonly dialect: ActivityDialect;
}

/** The arguments of an attempt. */
export function attemptArguments(
  { converter, dialect }: Values,
  { activityType, input }: PollActivityTaskQueueResponse,
): unknown[] {
  const payloads = input?.payloads ?? [];
  return dialect.argumentsOf?.(activityType?.name ?? "", payloads, converter) ?? fromPayloads(converter, payloads);
}

/** The payload of an attempt's result. */
export function resultOf(
  { converter, dialect }: Values,
  { activityType }: PollActivityTaskQueueResponse,
  result: unknown,
): Payload {
  return dialect.resultOf?.(activityType?.name ?? "", result, converter) ?? converter.toPayload(result);
}

/** Activities of this package. */
export const NATIVE_ACTIVITIES: ActivityDialect = {
  refusedResultIsFinal: true,
  call: ({ run, self }) => async (context, args) => await callActivity(run, self, context, args),
  end: attemptEnd,
  toFailure,
  detailsOf: (error) => isA(error, CancelledFailure) ? error.details : [],
};
