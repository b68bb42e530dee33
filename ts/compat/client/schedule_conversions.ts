// Schedules of the official form as the product's client takes them, and its descriptions in the official form.
import { DescribeScheduleResponseSchema } from "../../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { ScheduleActionTaken, ScheduleDescription as NativeDescription, ScheduleStartedWorkflow } from "../../client/mod.ts";
import type { ScheduleSpec as NativeSpec, ScheduleSummary as NativeSummary } from "../../client/mod.ts";
import { extractWorkflowType } from "../common/definitions.ts";
import { toPlain } from "../common/plain_proto.ts";
import { decodeSearchAttributes, decodeTypedSearchAttributes } from "../common/search_attribute_converters.ts";
import { decodePriority } from "../common/priority.ts";
import { decompileRetryPolicy } from "../common/retry_policy.ts";
import { type Duration, msOptionalToNumber, msToNumber } from "../common/time.ts";
import { decodeScheduleOverlapPolicy, encodeScheduleOverlapPolicy, type ScheduleOverlapPolicy } from "./enums.ts";
import type {
  Backfill,
  CalendarSpec,
  CompiledScheduleAction,
  CompiledScheduleOptions,
  CompiledScheduleUpdateOptions,
  NativeScheduleOptions,
  ScheduleDescription,
  ScheduleExecutionActionResult,
  ScheduleExecutionResult,
  ScheduleOptions,
  ScheduleSpec,
  ScheduleSummary,
  ScheduleUpdateOptions,
} from "./schedule_types.ts";
import { nativeRetry, nativeSearchAttributes } from "./workflow_options.ts";

/** The options with the workflow's name, its arguments and the ids' begin. */
export function compiledSchedule(options: ScheduleOptions): CompiledScheduleOptions {
  if (typeof options?.scheduleId !== "string" || options.scheduleId === "") {
    throw new TypeError("ScheduleOptions.scheduleId is required: a non-empty string");
  }
  return { ...options, action: compiledAction(options.scheduleId, options.action) } as CompiledScheduleOptions;
}

/** The same of an update. */
export function compiledUpdate(scheduleId: string, options: ScheduleUpdateOptions): CompiledScheduleUpdateOptions {
  return { ...options, action: compiledAction(scheduleId, options.action) } as CompiledScheduleUpdateOptions;
}

function compiledAction(scheduleId: string, action: ScheduleOptions["action"] | undefined): CompiledScheduleAction {
  if (typeof action?.workflowType !== "string" && typeof action?.workflowType !== "function") {
    throw new TypeError('ScheduleOptions.action is required: { type: "startWorkflow", workflowType, taskQueue }');
  }
  return {
    ...action,
    workflowId: action.workflowId ?? `${scheduleId}-workflow`,
    workflowType: extractWorkflowType(action.workflowType),
    args: [...action.args ?? []],
  } as unknown as CompiledScheduleAction;
}

/** A policy in the product's form. */
export function nativeOverlap(policy: ScheduleOverlapPolicy): Exclude<ScheduleOverlapPolicy, undefined> | undefined {
  return decodeScheduleOverlapPolicy(encodeScheduleOverlapPolicy(policy));
}

/** A backfill in the product's form. */
export function nativeBackfill({ start, end, overlap }: Backfill) {
  const policy = nativeOverlap(overlap);
  return { start, end, ...(policy !== undefined && { overlap: policy }) };
}

/** Ranges without an end of 0, which a server takes for none, as it takes the 0 that the official client sends. */
function nativeCalendars(calendars: readonly CalendarSpec[]): CalendarSpec[] {
  const isZero = (end: unknown) => end === 0 || end === "SUNDAY";
  const range = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(range);
    if (typeof value !== "object" || value === null || !("end" in value) || !isZero(value.end)) return value;
    const { end: _end, ...rest } = value;
    return rest;
  };
  return calendars.map((calendar) =>
    Object.fromEntries(Object.entries(calendar).map(([field, value]) => [field, range(value)])) as CalendarSpec
  );
}

function nativeSpec({ intervals, jitter, calendars, skip, ...rest }: ScheduleSpec): NativeSpec {
  return {
    ...rest,
    ...(calendars !== undefined && { calendars: nativeCalendars(calendars) }),
    ...(skip !== undefined && { skip: nativeCalendars(skip) }),
    ...(intervals !== undefined && {
      intervals: intervals.map(({ every, offset }) => ({
        every: msToNumber(every),
        ...(offset !== undefined && { offset: msToNumber(offset) }),
      })),
    }),
    ...(jitter !== undefined && { jitter: msToNumber(jitter) }),
  };
}

function nativeAction(action: CompiledScheduleAction): NativeScheduleOptions["action"] {
  const ms = (name: string, duration: Duration | undefined) => {
    const value = msOptionalToNumber(duration);
    return value === undefined ? {} : { [name]: value };
  };
  return {
    type: "startWorkflow",
    workflowType: action.workflowType,
    workflowId: action.workflowId,
    taskQueue: action.taskQueue,
    args: action.args,
    ...ms("executionTimeout", action.workflowExecutionTimeout),
    ...ms("runTimeout", action.workflowRunTimeout),
    ...ms("taskTimeout", action.workflowTaskTimeout),
    ...(action.retry && { retry: nativeRetry(action.retry) }),
    ...(action.memo && { memo: action.memo }),
    ...nativeSearchAttributes(action.searchAttributes, action.typedSearchAttributes),
    ...(action.staticSummary !== undefined && { summary: action.staticSummary }),
    ...(action.staticDetails !== undefined && { details: action.staticDetails }),
  } as NativeScheduleOptions["action"];
}

function nativeParts(options: CompiledScheduleUpdateOptions | CompiledScheduleOptions) {
  const { policies = {} } = options;
  const overlap = nativeOverlap(policies.overlap);
  const catchupWindow = msOptionalToNumber(policies.catchupWindow);
  return {
    spec: nativeSpec(options.spec),
    action: nativeAction(options.action),
    policies: {
      ...(overlap !== undefined && { overlap }),
      ...(catchupWindow !== undefined && { catchupWindow }),
      ...(policies.pauseOnFailure !== undefined && { pauseOnFailure: policies.pauseOnFailure }),
    },
    ...nativeSearchAttributes(options.searchAttributes, options.typedSearchAttributes),
  };
}

/** The whole of a schedule as the product's client takes it. */
export function nativeSchedule(options: CompiledScheduleOptions): NativeScheduleOptions {
  const { backfill, ...state } = options.state ?? {};
  return {
    scheduleId: options.scheduleId,
    ...nativeParts(options),
    ...(options.memo && { memo: options.memo }),
    state: { ...state, ...(backfill && { backfill: backfill.map(nativeBackfill) }) },
  } as NativeScheduleOptions;
}

/** What an update makes of a schedule, as the product's client takes it. */
export function nativeUpdate(options: CompiledScheduleUpdateOptions) {
  return { ...nativeParts(options), state: options.state ?? {} };
}

/** As the official client shows calendars: with their comment, also where it is empty. */
function commented<S extends ScheduleSummary["spec"]>(spec: S): S {
  const all = (calendars: NonNullable<ScheduleDescription["spec"]["calendars"]> | undefined) =>
    calendars?.map((calendar) => ({ ...calendar, comment: calendar.comment ?? "" }));
  return { ...spec, calendars: all(spec?.calendars), skip: all(spec?.skip) } as S;
}

const startedBy = (workflow: ScheduleStartedWorkflow): ScheduleExecutionActionResult => ({
  type: "startWorkflow",
  workflow: { workflowId: workflow.workflowId, firstExecutionRunId: workflow.firstExecutionRunId },
});

const taken = (action: ScheduleActionTaken): ScheduleExecutionResult =>
  ({
    scheduledAt: action.scheduledAt,
    takenAt: action.takenAt,
    action: action.workflow && startedBy(action.workflow),
  }) as ScheduleExecutionResult;

/** A description in the official form. */
export function officialDescription(native: NativeDescription): ScheduleDescription {
  const raw = toPlain(DescribeScheduleResponseSchema, native.raw);
  const start = raw.schedule?.action?.startWorkflow;
  const { executionTimeout, runTimeout, taskTimeout, searchAttributes: _, summary, details, retry: __, memo, ...action } =
    native.action;
  const attributes = start?.searchAttributes?.indexedFields;
  const fields = raw.searchAttributes?.indexedFields;
  const { recentActions, runningActions, ...info } = native.info;
  return {
    scheduleId: native.scheduleId,
    spec: commented(native.spec as ScheduleDescription["spec"]),
    action: {
      ...action,
      // The official client sets each field, also those without a value.
      memo,
      retry: decompileRetryPolicy(start?.retryPolicy),
      searchAttributes: decodeSearchAttributes(attributes),
      typedSearchAttributes: decodeTypedSearchAttributes(attributes),
      workflowExecutionTimeout: executionTimeout,
      workflowRunTimeout: runTimeout,
      workflowTaskTimeout: taskTimeout,
      staticSummary: summary,
      staticDetails: details,
      priority: decodePriority(start?.priority),
    } as unknown as ScheduleDescription["action"],
    policies: { ...native.policies },
    ...(Object.keys(native.memo).length > 0 && { memo: native.memo }),
    searchAttributes: decodeSearchAttributes(fields),
    typedSearchAttributes: decodeTypedSearchAttributes(fields),
    state: { ...native.state },
    info: {
      ...info,
      recentActions: recentActions.map(taken),
      runningActions: runningActions.map(startedBy),
      nextActionTimes: [...info.nextActionTimes],
    } as ScheduleDescription["info"],
    raw,
  };
}

/** A listed schedule in the official form. */
export function officialSummary(native: NativeSummary): ScheduleSummary {
  const { indexedFields } = native.raw.searchAttributes ?? {};
  return {
    scheduleId: native.scheduleId,
    spec: commented(native.spec as NonNullable<ScheduleSummary["spec"]>),
    action: { type: "startWorkflow", workflowType: native.workflowType },
    ...(Object.keys(native.memo).length > 0 && { memo: native.memo }),
    searchAttributes: decodeSearchAttributes(indexedFields),
    typedSearchAttributes: decodeTypedSearchAttributes(indexedFields),
    state: { ...native.state },
    info: { recentActions: native.info.recentActions.map(taken), nextActionTimes: [...native.info.nextActionTimes] },
  };
}
