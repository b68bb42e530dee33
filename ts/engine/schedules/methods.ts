// The methods of WorkflowService on schedules. Each runs in a batch: what it changes is committed
// before it responds.
import { clone, create } from "@bufbuild/protobuf";
import {
  type Schedule,
  ScheduleActionSchema,
  ScheduleInfoSchema,
  SchedulePoliciesSchema,
  ScheduleSchema,
  type ScheduleSpec,
  ScheduleSpecSchema,
  ScheduleStateSchema,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import type { SearchAttributes } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { ScheduleOverlapPolicy as Overlap } from "../../messages/generated/temporal/api/enums/v1/schedule_pb.ts";
import { WorkflowIdReusePolicy as Reuse } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  CountSchedulesRequestSchema,
  CountSchedulesResponseSchema,
  CreateScheduleRequestSchema,
  CreateScheduleResponseSchema,
  DeleteScheduleRequestSchema,
  DeleteScheduleResponseSchema,
  DescribeScheduleRequestSchema,
  DescribeScheduleResponseSchema,
  ListScheduleMatchingTimesRequestSchema,
  ListScheduleMatchingTimesResponseSchema,
  ListSchedulesRequestSchema,
  ListSchedulesResponseSchema,
  PatchScheduleRequestSchema,
  PatchScheduleResponseSchema,
  type StartWorkflowExecutionRequest,
  StartWorkflowExecutionRequestSchema,
  UpdateScheduleRequestSchema,
  UpdateScheduleResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import { withRegisteredTypes } from "../attribute_register.ts";
import { decodeMessage, encodeMessage, invalid } from "../host_bytes.ts";
import type { AttributeTypes } from "../store.ts";
import { canonicalSpec, fillRanges } from "./canonical.ts";
import { durationMsOrZero, durationOfMs, timestampMsIfSet, timestampOfMs } from "./durations.ts";
import { countMatching, scheduleListPage } from "./lists.ts";
import { jitterSeed, type ScheduleStep, startOfAction } from "./machine.ts";
import { checkLimits, checkParts, checkPatch, checkYears } from "./request_checks.ts";
import { CompiledSpec, type Skips } from "./spec.ts";
import { encodeConflictToken, INITIAL_CONFLICT_TOKEN, type ScheduleState } from "./state.ts";

const DEFAULT_CATCHUP_MS = 365 * 24 * 3_600_000;
const MIN_CATCHUP_MS = 10_000;
const MAX_ID_LENGTH = 1000;
/** Encoded bytes of a schedule with its memo and search attributes, as of a set of payloads. */
const MAX_SCHEDULE_BYTES = 2 * 1024 * 1024;
const MAX_MATCHING_TIMES = 1000;
const FUTURE_TIMES = 10;
/** Times that exclusions may skip for one entry of a list. */
const LIST_SKIPS = 1000;
/** The end of the ids of started workflows, for checks of the length. */
const SAMPLE_TIME = "-2009-11-10T23:00:00Z";

type Change = (step: ScheduleStep) => void;

export interface ScheduleMethodsContext {
  readonly namespace: string;
  /** Throws for a namespace that the engine does not serve. */
  ours(name: string): void;
  nowMs(): number;
  /** Throws a ServiceError if the row of the schedule cannot be read. */
  find(id: string): ScheduleState | undefined;
  /** Why the schedule takes no actions; "" if it does. */
  trouble(id: string): string;
  all(): readonly ScheduleState[];
  /** Adds a schedule and lets it act. */
  create(state: ScheduleState, change: Change): void;
  /** Changes a schedule and lets it act. */
  change(state: ScheduleState, change: Change): void;
  /** Looks at what has happened. */
  observe(state: ScheduleState): void;
  /** Removes a schedule, also one that cannot be read. Returns false for an unknown id. */
  remove(id: string): boolean;
  /** Types of the registered search attributes. */
  attributeTypes(): AttributeTypes | undefined;
  /** Throws a ServiceError if the workflow could never be started. */
  check(request: StartWorkflowExecutionRequest): void;
}

type ScheduleMethods = { readonly [name in MethodName]?: (request: Uint8Array) => Uint8Array };

/** Returns the methods by name. They throw ServiceErrors. */
export function scheduleMethods(context: ScheduleMethodsContext) {
  return { ...changingMethods(context), ...readingMethods(context) } satisfies ScheduleMethods;
}

function findSchedule(context: ScheduleMethodsContext, id: string): ScheduleState {
  const state = context.find(id);
  if (state !== undefined) return state;
  throw notFound(id);
}

function notFound(id: string): ServiceError {
  return new ServiceError(Code.NOT_FOUND, `schedule not found: "${id}"`, "NotFound");
}

type Labels = { readonly [name in "memo" | "searchAttributes"]?: ScheduleState[name] };

function checkSchedule(
  context: ScheduleMethodsContext,
  given: Schedule | undefined,
  { memo, searchAttributes }: Labels,
): Pick<ScheduleState, "schedule" | "spec"> {
  checkParts(given?.spec);
  if (given !== undefined) checkLimits(given);
  const schedule = withDefaults(given);
  const bytes = encodeMessage(DescribeScheduleResponseSchema, {
    schedule,
    ...(memo !== undefined && { memo }),
    ...(searchAttributes !== undefined && { searchAttributes }),
  }).length;
  if (bytes > MAX_SCHEDULE_BYTES) {
    throw invalid(
      `the schedule with its memo and search attributes has ${bytes} bytes; the limit is ${MAX_SCHEDULE_BYTES}`,
    );
  }
  if (searchAttributes !== undefined) {
    context.check(sampleWith(searchAttributes, context.namespace));
  }
  const request = checkAction(schedule, context.namespace);
  if (request !== undefined) context.check(request);
  return { schedule, spec: compiled(schedule) };
}

function checkToken(state: ScheduleState, token: Uint8Array): void {
  const expected = encodeConflictToken(state.conflictToken);
  if (token.length === 0) return;
  if (token.length === expected.length && token.every((byte, i) => byte === expected[i])) return;
  throw new ServiceError(
    Code.FAILED_PRECONDITION,
    `schedule "${state.id}" was changed since it was described (mismatched conflict token); describe it again and repeat the update`,
    "FailedPrecondition",
  );
}

function changingMethods(context: ScheduleMethodsContext) {
  const { ours, nowMs } = context;
  return {
    createSchedule(bytes: Uint8Array) {
      const request = decodeMessage(CreateScheduleRequestSchema, bytes);
      ours(request.namespace);
      checkIds(request.scheduleId, request.requestId, true);
      checkPatch("initial_patch", request.initialPatch);
      const existing = context.find(request.scheduleId);
      if (existing === undefined) {
        const createdMs = nowMs();
        const { initialPatch, memo, searchAttributes } = request;
        const state: ScheduleState = {
          id: request.scheduleId,
          requestId: request.requestId,
          createdMs,
          ...checkSchedule(context, request.schedule, request),
          info: create(ScheduleInfoSchema, { createTime: timestampOfMs(createdMs) }),
          memo,
          searchAttributes,
          conflictToken: INITIAL_CONFLICT_TOKEN,
          processedMs: createdMs,
          buffer: [],
          backfills: [],
          lastResult: undefined,
          lastFailure: undefined,
        };
        context.create(state, (step) => {
          if (initialPatch !== undefined) step.patch(initialPatch);
        });
      } else if (existing.requestId !== request.requestId) throw alreadyExists(request.scheduleId);
      return encodeMessage(CreateScheduleResponseSchema, {
        conflictToken: encodeConflictToken(INITIAL_CONFLICT_TOKEN),
      });
    },
    updateSchedule(bytes: Uint8Array) {
      const request = decodeMessage(UpdateScheduleRequestSchema, bytes);
      ours(request.namespace);
      checkIds(request.scheduleId, request.requestId, false);
      const state = findSchedule(context, request.scheduleId);
      const { conflictToken: token, searchAttributes, memo } = request;
      // A failure may pause the schedule.
      context.observe(state);
      checkToken(state, token);
      const { schedule, spec } = checkSchedule(context, request.schedule, {
        memo: memo ?? state.memo,
        searchAttributes: searchAttributes ?? state.searchAttributes,
      });
      context.change(state, (step) => {
        step.update(schedule, spec);
        if (searchAttributes !== undefined) state.searchAttributes = searchAttributes;
        if (memo !== undefined) state.memo = memo;
      });
      return encodeMessage(UpdateScheduleResponseSchema, {});
    },
    patchSchedule(bytes: Uint8Array) {
      const request = decodeMessage(PatchScheduleRequestSchema, bytes);
      ours(request.namespace);
      checkIds(request.scheduleId, request.requestId, false);
      const { patch } = request;
      checkPatch("patch", patch);
      const state = findSchedule(context, request.scheduleId);
      context.change(state, (step) => {
        if (patch !== undefined) step.patch(patch);
      });
      return encodeMessage(PatchScheduleResponseSchema, {});
    },
    deleteSchedule(bytes: Uint8Array) {
      const request = decodeMessage(DeleteScheduleRequestSchema, bytes);
      ours(request.namespace);
      if (!context.remove(request.scheduleId)) throw notFound(request.scheduleId);
      return encodeMessage(DeleteScheduleResponseSchema, {});
    },
  };
}

function readingMethods(context: ScheduleMethodsContext) {
  const { namespace, ours } = context;
  return {
    describeSchedule(bytes: Uint8Array) {
      const request = decodeMessage(DescribeScheduleRequestSchema, bytes);
      ours(request.namespace);
      const state = findSchedule(context, request.scheduleId);
      const schedule = clone(ScheduleSchema, state.schedule);
      fillRanges(schedule.spec!);
      const withTypes = (attributes: SearchAttributes) => ({
        searchAttributes: withRegisteredTypes(attributes, context.attributeTypes()),
      });
      const { action } = schedule.action ?? {};
      if (action?.case === "startWorkflow" && action.value.searchAttributes !== undefined) {
        Object.assign(action.value, withTypes(action.value.searchAttributes));
      }
      const info = clone(ScheduleInfoSchema, state.info);
      info.futureActionTimes = futureTimes(state, namespace, FUTURE_TIMES);
      info.bufferSize = BigInt(state.buffer.length);
      info.invalidScheduleError = context.trouble(state.id);
      return encodeMessage(DescribeScheduleResponseSchema, {
        schedule,
        info,
        ...(state.memo !== undefined && { memo: state.memo }),
        ...(state.searchAttributes !== undefined && withTypes(state.searchAttributes)),
        conflictToken: encodeConflictToken(state.conflictToken),
      });
    },
    listScheduleMatchingTimes(bytes: Uint8Array) {
      const request = decodeMessage(ListScheduleMatchingTimesRequestSchema, bytes);
      ours(request.namespace);
      const state = findSchedule(context, request.scheduleId);
      const [startMs, endMs] = [
        timestampMsIfSet(request.startTime),
        timestampMsIfSet(request.endTime),
      ];
      if (startMs === undefined || endMs === undefined) {
        throw invalid("start_time and end_time are required");
      }
      checkYears("start_time", request.startTime);
      checkYears("end_time", request.endTime);
      return encodeMessage(ListScheduleMatchingTimesResponseSchema, {
        startTime: timesAfter(state, namespace, startMs, MAX_MATCHING_TIMES, endMs)
          .map(timestampOfMs),
      });
    },
    listSchedules(bytes: Uint8Array) {
      const request = decodeMessage(ListSchedulesRequestSchema, bytes);
      ours(request.namespace);
      const times = (state: ScheduleState, count: number) =>
        futureTimes(state, namespace, count, { left: LIST_SKIPS });
      return encodeMessage(
        ListSchedulesResponseSchema,
        scheduleListPage(context.all(), request, times, context.attributeTypes()),
      );
    },
    countSchedules(bytes: Uint8Array) {
      const request = decodeMessage(CountSchedulesRequestSchema, bytes);
      ours(request.namespace);
      return encodeMessage(CountSchedulesResponseSchema, {
        count: BigInt(countMatching(context.all(), request.query)),
      });
    },
  };
}

function alreadyExists(id: string): ServiceError {
  return new ServiceError(
    Code.ALREADY_EXISTS,
    `schedule "${id}" is already registered`,
    "WorkflowExecutionAlreadyStarted",
  );
}

function checkIds(scheduleId: string, requestId: string, required: boolean): void {
  if (scheduleId === "") throw invalid("ScheduleId is not set on request.");
  if (required && requestId === "") throw invalid("RequestId is not set on request.");
  for (const [name, id] of [["ScheduleId", scheduleId], ["RequestId", requestId]] as const) {
    if (new TextEncoder().encode(id).length > MAX_ID_LENGTH) {
      throw invalid(`${name} length exceeds limit.`);
    }
    if (id.includes("\0")) throw invalid(`${name} contains a NUL character.`);
  }
}

/** The canonical schedule: missing parts have their defaults, so that a description shows them. */
function withDefaults(given: Schedule | undefined): Schedule {
  const schedule = given === undefined ? create(ScheduleSchema) : clone(ScheduleSchema, given);
  const policies = schedule.policies ?? create(SchedulePoliciesSchema);
  schedule.spec = canonical(schedule.spec ?? create(ScheduleSpecSchema));
  schedule.action ??= create(ScheduleActionSchema);
  schedule.state ??= create(ScheduleStateSchema);
  schedule.policies = policies;
  if (policies.overlapPolicy === Overlap.UNSPECIFIED) policies.overlapPolicy = Overlap.SKIP;
  policies.catchupWindow = durationOfMs(
    policies.catchupWindow === undefined
      ? DEFAULT_CATCHUP_MS
      : Math.max(durationMsOrZero(policies.catchupWindow), MIN_CATCHUP_MS),
  );
  return schedule;
}

function canonical(spec: ScheduleSpec): ScheduleSpec {
  try {
    return canonicalSpec(spec);
  } catch (error) {
    throw invalid(`Invalid schedule spec: ${(error as Error).message}`);
  }
}

function compiled(schedule: Schedule): CompiledSpec {
  try {
    return new CompiledSpec(schedule.spec!);
  } catch (error) {
    throw invalid(`Invalid schedule spec: ${(error as Error).message}`);
  }
}

/** Returns a sample of the start of a schedule's workflow; undefined without an action. */
function checkAction(
  { action: { action } = create(ScheduleActionSchema) }: Schedule,
  namespace: string,
): StartWorkflowExecutionRequest | undefined {
  if (action.case !== "startWorkflow") return undefined;
  const { value } = action;
  if (value.workflowId === "") throw invalid("WorkflowId is not set on request.");
  if (value.cronSchedule !== "") {
    throw invalid("Scheduled workflow must not contain CronSchedule");
  }
  const reuse = value.workflowIdReusePolicy;
  if (reuse !== Reuse.UNSPECIFIED && reuse !== Reuse.ALLOW_DUPLICATE) {
    throw invalid("Scheduled workflow must not contain WorkflowIDReusePolicy");
  }
  return create(StartWorkflowExecutionRequestSchema, {
    ...startOfAction(value),
    ...(value.searchAttributes !== undefined && { searchAttributes: value.searchAttributes }),
    namespace,
    workflowId: value.workflowId + SAMPLE_TIME,
    requestId: SAMPLE_TIME,
  });
}

/** A start with the search attributes of a schedule, which are checked like those of a workflow. */
function sampleWith(
  searchAttributes: NonNullable<Labels["searchAttributes"]>,
  namespace: string,
): StartWorkflowExecutionRequest {
  return create(StartWorkflowExecutionRequestSchema, {
    namespace,
    workflowId: SAMPLE_TIME,
    requestId: SAMPLE_TIME,
    workflowType: { name: "schedule" },
    taskQueue: { name: "schedule" },
    searchAttributes,
  });
}

/** The next times at which a schedule acts. */
function futureTimes(
  state: ScheduleState,
  namespace: string,
  count: number,
  skips: Skips = state.spec.skips(),
) {
  const { limitedActions, remainingActions } = state.schedule.state!;
  const most = limitedActions ? Math.min(Number(remainingActions), count) : count;
  const after = Math.max(
    state.processedMs,
    (timestampMsIfSet(state.info.updateTime) ?? -Infinity) - 1,
  );
  return timesAfter(state, namespace, after, most, Infinity, skips).map(timestampOfMs);
}

function timesAfter(
  { id, spec }: ScheduleState,
  namespace: string,
  afterMs: number,
  count: number,
  endMs: number,
  skips: Skips = spec.skips(),
): number[] {
  const times: number[] = [];
  const seed = jitterSeed(namespace, id);
  for (let at = afterMs; times.length < count;) {
    const time = spec.next(at, seed, skips);
    if (time === undefined || time.nextMs > endMs) break;
    times.push(at = time.nextMs);
  }
  return times;
}
