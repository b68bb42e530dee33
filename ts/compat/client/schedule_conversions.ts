// Converts schedules of the official form for the native client, and descriptions back.
import { DescribeScheduleResponseSchema } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type {
  ScheduleActionTaken,
  ScheduleDescription as NativeDescription,
  ScheduleStartedWorkflow,
} from "../../client/mod.ts";
import type {
  ScheduleSpec as NativeSpec,
  ScheduleSummary as NativeSummary,
} from "../../client/mod.ts";
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import { extractWorkflowType } from "../common/definitions.ts";
import { toPlain } from "../common/plain_proto.ts";
import {
  decodeSearchAttributes,
  decodeTypedSearchAttributes,
} from "../common/search_attribute_converters.ts";
import { decodePriority } from "../common/priority.ts";
import { decompileRetryPolicy } from "../common/retry_policy.ts";
import { type Duration, msOptionalToNumber, msToNumber } from "../common/time.ts";
import {
  decodeScheduleOverlapPolicy,
  encodeScheduleOverlapPolicy,
  type ScheduleOverlapPolicy,
} from "./enums.ts";
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

const UPDATE: OptionNames<ScheduleUpdateOptions> = {
  ...{ spec: 1, action: 1, policies: 1, state: 1, searchAttributes: 1, typedSearchAttributes: 1 },
};
const SCHEDULE: OptionNames<ScheduleOptions> = { ...UPDATE, scheduleId: 1, memo: 1, state: 1 };
const POLICIES: OptionNames<NonNullable<ScheduleOptions["policies"]>> = {
  overlap: 1,
  catchupWindow: 1,
  pauseOnFailure: 1,
};
const STATE: OptionNames<NonNullable<ScheduleOptions["state"]>> = {
  ...{ paused: 1, note: 1, remainingActions: 1, triggerImmediately: 1, backfill: 1 },
};
const SPEC: OptionNames<ScheduleSpec> = {
  ...{
    calendars: 1,
    intervals: 1,
    cronExpressions: 1,
    skip: 1,
    startAt: 1,
    endAt: 1,
    jitter: 1,
    timezone: 1,
  },
};
const INTERVAL: OptionNames<NonNullable<ScheduleSpec["intervals"]>[number]> = {
  every: 1,
  offset: 1,
};
const BACKFILL: OptionNames<Backfill> = { start: 1, end: 1, overlap: 1 };

/** Throws a TypeError for a misspelled setting, which would be ignored. */
function checkNames(
  owner: string,
  options: ScheduleOptions | ScheduleUpdateOptions,
  names: object,
): void {
  rejectMisspelledOptions(owner, options, names);
  rejectMisspelledOptions(`policies of ${owner}`, options.policies, POLICIES);
  rejectMisspelledOptions(`state of ${owner}`, options.state, STATE);
  rejectMisspelledOptions(`spec of ${owner}`, options.spec, SPEC);
  for (const interval of options.spec?.intervals ?? []) {
    rejectMisspelledOptions(`an interval of ${owner}`, interval, INTERVAL);
  }
}

/** Returns the options with the workflow's name, arguments and id prefix. */
export function compiledSchedule(options: ScheduleOptions): CompiledScheduleOptions {
  if (typeof options?.scheduleId !== "string" || options.scheduleId === "") {
    throw new TypeError("ScheduleOptions.scheduleId is required: a non-empty string");
  }
  checkNames("the schedule", options, SCHEDULE);
  return {
    ...options,
    action: compiledAction(options.scheduleId, options.action),
  } as CompiledScheduleOptions;
}

/** Same for an update. */
export function compiledUpdate(
  scheduleId: string,
  options: ScheduleUpdateOptions,
): CompiledScheduleUpdateOptions {
  checkNames("the update of the schedule", options, UPDATE);
  return {
    ...options,
    action: compiledAction(scheduleId, options.action),
  } as CompiledScheduleUpdateOptions;
}

function compiledAction(
  scheduleId: string,
  action: ScheduleOptions["action"] | undefined,
): CompiledScheduleAction {
  if (typeof action?.workflowType !== "string" && typeof action?.workflowType !== "function") {
    throw new TypeError(
      'ScheduleOptions.action is required: { type: "startWorkflow", workflowType, taskQueue }',
    );
  }
  return {
    ...action,
    workflowId: action.workflowId ?? `${scheduleId}-workflow`,
    workflowType: extractWorkflowType(action.workflowType),
    args: [...action.args ?? []],
  } as unknown as CompiledScheduleAction;
}

/** Converts a policy. */
export function nativeOverlap(
  policy: ScheduleOverlapPolicy,
): Exclude<ScheduleOverlapPolicy, undefined> | undefined {
  return decodeScheduleOverlapPolicy(encodeScheduleOverlapPolicy(policy));
}

/** Converts a backfill. */
export function nativeBackfill(backfill: Backfill) {
  rejectMisspelledOptions("the backfill of the schedule", backfill, BACKFILL);
  const { start, end, overlap } = backfill;
  const policy = nativeOverlap(overlap);
  return { start, end, ...(policy !== undefined && { overlap: policy }) };
}

/** Removes ends of 0, which the official client sends and a server treats as missing. */
function nativeCalendars(calendars: readonly CalendarSpec[]): CalendarSpec[] {
  const isZero = (end: unknown) => end === 0 || end === "SUNDAY";
  const range = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(range);
    if (typeof value !== "object" || value === null || !("end" in value) || !isZero(value.end)) {
      return value;
    }
    const { end: _end, ...rest } = value;
    return rest;
  };
  return calendars.map((calendar) =>
    Object.fromEntries(
      Object.entries(calendar).map(([field, value]) => [field, range(value)]),
    ) as CalendarSpec
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

/** Converts a complete schedule. */
export function nativeSchedule(options: CompiledScheduleOptions): NativeScheduleOptions {
  const { backfill, ...state } = options.state ?? {};
  return {
    scheduleId: options.scheduleId,
    ...nativeParts(options),
    ...(options.memo && { memo: options.memo }),
    state: { ...state, ...(backfill && { backfill: backfill.map(nativeBackfill) }) },
  } as NativeScheduleOptions;
}

/** Converts an update of a schedule. */
export function nativeUpdate(options: CompiledScheduleUpdateOptions) {
  return { ...nativeParts(options), state: options.state ?? {} };
}

/** Adds the comment to calendars, also if empty, like the official client. */
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

/** Converts a description to the official form. */
export function officialDescription(native: NativeDescription): ScheduleDescription {
  const raw = toPlain(DescribeScheduleResponseSchema, native.raw);
  const start = raw.schedule?.action?.startWorkflow;
  const {
    executionTimeout,
    runTimeout,
    taskTimeout,
    searchAttributes: _,
    summary,
    details,
    retry: __,
    memo,
    ...action
  } = native.action;
  const attributes = start?.searchAttributes?.indexedFields;
  const fields = raw.searchAttributes?.indexedFields;
  const { recentActions, runningActions, ...info } = native.info;
  return {
    scheduleId: native.scheduleId,
    spec: commented(native.spec as ScheduleDescription["spec"]),
    action: {
      ...action,
      // The official client sets all fields, including undefined ones.
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

/** Converts a listed schedule to the official form. */
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
    info: {
      recentActions: native.info.recentActions.map(taken),
      nextActionTimes: [...native.info.nextActionTimes],
    },
  };
}
