// What a schedule is made of, and the messages that it becomes.
import { type OptionNames, rejectUnknownOptions } from "../../base/option_names.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Duration, toMs } from "../../converter/duration.ts";
import type { SearchAttributes } from "../../converter/search_attributes.ts";
import { ScheduleOverlapPolicy as WireOverlap } from "../../api/generated/temporal/api/enums/v1/schedule_pb.ts";
import type { BackfillRequestSchema, ScheduleSchema } from "../../api/generated/temporal/api/schedule/v1/message_pb.ts";
import type { NewWorkflowExecutionInfo } from "../../api/generated/temporal/api/workflow/v1/message_pb.ts";
import { durationFromMs, timestampFromDate } from "../../api/well_known.ts";
import { type ClientContext, encodeArgs, headerField, type PayloadHeaders } from "../context.ts";
import { type AnyWorkflow, type ArgsOption, definitionName, type WorkflowArgs } from "../definitions.ts";
import { toStartFields, type WorkflowOptions } from "../options.ts";
import { encodeSpec, type ScheduleSpec } from "./spec.ts";

/**
 * What is done when the workflow of the last time is still running: nothing (SKIP), one start later (BUFFER_ONE), every start later
 * (BUFFER_ALL), the old one is cancelled or terminated, or both run (ALLOW_ALL).
 */
export type ScheduleOverlapPolicy = Exclude<keyof typeof WireOverlap, "UNSPECIFIED">;

/** The workflow that a schedule starts. */
export type ScheduleAction<W extends AnyWorkflow = string> =
  & {
    /** The one kind of action that there is. */
    type: "startWorkflow";
    /** The definition of the workflow, or the name of its type. */
    workflowType: W;
    /** Begin of its workflow ids; the service appends the time. Default: the schedule's id and "-workflow". */
    workflowId?: string;
  }
  & Pick<
    WorkflowOptions,
    | "taskQueue"
    | "executionTimeout"
    | "runTimeout"
    | "taskTimeout"
    | "retry"
    | "memo"
    | "searchAttributes"
    | "summary"
    | "details"
  >
  & ArgsOption<WorkflowArgs<W>>;

/** How a schedule acts. */
export interface SchedulePolicies {
  /** When the workflow of the last time is still running. Default: SKIP. */
  overlap?: ScheduleOverlapPolicy;
  /** How late an action may be taken when the service was away at its time. Default: one year. */
  catchupWindow?: Duration;
  /** Pause when a workflow fails or times out; not for actions under ALLOW_ALL, which the service does not watch. Default: false. */
  pauseOnFailure?: boolean;
}

/** Whether a schedule acts. */
export interface ScheduleState {
  /** It takes no actions by itself. Default: false. */
  paused?: boolean;
  /** For people, e.g. why it is paused. The service may write here. */
  note?: string;
  /** So many actions more, and no others. Default: no limit. */
  remainingActions?: number;
}

/** A time of the past (or of the future) whose actions are taken now. */
export interface Backfill {
  /** From. */
  start: Date;
  /** To. */
  end: Date;
  /** Overlap policy of these actions. Default: the schedule's. */
  overlap?: ScheduleOverlapPolicy;
}

/** Options of `client.schedule.create`. */
export interface ScheduleOptions<W extends AnyWorkflow = string> {
  /** Id of the schedule, unique in the namespace. */
  scheduleId: string;
  /** When it acts. */
  spec: ScheduleSpec;
  /** What it does. */
  action: ScheduleAction<W>;
  /** How it acts. */
  policies?: SchedulePolicies;
  /** Whether it acts; and what it does once, at its creation. */
  state?: ScheduleState & {
    /** Act once at once. */
    triggerImmediately?: boolean;
    /** Take the actions of these times. */
    backfill?: readonly Backfill[];
  };
  /** Notes of the schedule itself, shown by describe and list; the action has its own. */
  memo?: { [key: string]: unknown };
  /** Search attributes of the schedule itself, which `client.schedule.list` can select by; the action has its own. */
  searchAttributes?: SearchAttributes;
  /** Two creations with one request id are one. Default: made per call. */
  requestId?: string;
}

/** What `handle.update` makes of a schedule. What is left out takes its default. */
export interface ScheduleUpdateOptions<W extends AnyWorkflow = string> {
  /** When it acts. */
  spec: ScheduleSpec;
  /** What it does. */
  action: ScheduleAction<W>;
  /** How it acts. */
  policies?: SchedulePolicies;
  /** Whether it acts. */
  state?: ScheduleState;
  /** Search attributes of the schedule; left out, they stay as they are. */
  searchAttributes?: SearchAttributes;
}

/** Something that is done to a schedule without changing what it is. */
export interface SchedulePatch {
  /** Pause it, with this note. */
  pause?: string;
  /** Go on, with this note. */
  unpause?: string;
  /** Act now. */
  trigger?: {
    /** Overlap policy of this action. */
    overlap: ScheduleOverlapPolicy | undefined;
  };
  /** Take the actions of these times now. */
  backfill?: readonly Backfill[];
}

const BACKFILL: OptionNames<Backfill> = { start: 1, end: 1, overlap: 1 };
const POLICIES: OptionNames<SchedulePolicies> = { overlap: 1, catchupWindow: 1, pauseOnFailure: 1 };
const STATE: OptionNames<NonNullable<ScheduleOptions["state"]>> = {
  ...{ paused: 1, note: 1, remainingActions: 1, triggerImmediately: 1, backfill: 1 },
};
const ACTION: OptionNames<ScheduleAction> = {
  ...{ type: 1, workflowType: 1, workflowId: 1, args: 1, taskQueue: 1, executionTimeout: 1, runTimeout: 1, taskTimeout: 1 },
  ...{ retry: 1, memo: 1, searchAttributes: 1, summary: 1, details: 1 },
};
export const UPDATE_SCHEDULE: OptionNames<ScheduleUpdateOptions> = {
  ...{ spec: 1, action: 1, policies: 1, state: 1, searchAttributes: 1 },
};
export const CREATE_SCHEDULE: OptionNames<ScheduleOptions> = { scheduleId: 1, ...UPDATE_SCHEDULE, memo: 1, requestId: 1 };

export function encodeOverlap(overlap: ScheduleOverlapPolicy | undefined, otherwise: WireOverlap = WireOverlap.UNSPECIFIED) {
  if (overlap === undefined) return otherwise;
  const value = Object.hasOwn(WireOverlap, overlap) ? WireOverlap[overlap] : undefined;
  if (value !== undefined) return value;
  const known = Object.keys(WireOverlap).filter((name) => name !== "UNSPECIFIED");
  throw new TypeError(`invalid overlap policy ${JSON.stringify(overlap)}; valid values: ${known.join(", ")}`);
}

export function encodeBackfill(backfill: Backfill): MessageInitShape<typeof BackfillRequestSchema> {
  rejectUnknownOptions("a backfill", backfill, BACKFILL);
  const { start, end, overlap } = backfill;
  for (const [name, date] of [["start", start], ["end", end]] as const) {
    if (!(date instanceof Date) || Number.isNaN(date.getTime())) {
      throw new TypeError(`the ${name} of a backfill is not a valid Date`);
    }
  }
  if (end < start) throw new TypeError("a backfill ends before its start");
  return { startTime: timestampFromDate(start), endTime: timestampFromDate(end), overlapPolicy: encodeOverlap(overlap) };
}

/** What an action keeps of the one that it was made from: values that this client could perhaps not read, and what it does not know of. */
export interface Kept {
  readonly action: Pick<ScheduleAction<AnyWorkflow>, "memo" | "searchAttributes" | "summary" | "details"> & { args?: unknown };
  readonly raw: NewWorkflowExecutionInfo;
  readonly keepOriginalWorkflowId: boolean;
}

function encodeAction(
  context: ClientContext,
  scheduleId: string,
  action: ScheduleAction<AnyWorkflow>,
  headers: PayloadHeaders,
  kept: Kept | undefined,
) {
  if (action?.type !== "startWorkflow") {
    throw new TypeError(
      `the action of schedule ${scheduleId} has the type ${JSON.stringify(action?.type)}; the only valid type is "startWorkflow"`,
    );
  }
  rejectUnknownOptions(`the action of schedule ${scheduleId}`, action, ACTION);
  const name = definitionName(action.workflowType);
  const taskQueue = action.taskQueue ?? context.defaultTaskQueue;
  if (!taskQueue) {
    throw new TypeError(
      `the action of schedule ${scheduleId} has no task queue: pass taskQueue, or set a default taskQueue on the client`,
    );
  }
  const same = (field: "args" | "memo" | "searchAttributes") =>
    kept !== undefined && (action as Kept["action"])[field] === kept.action[field];
  const text = kept !== undefined && action.summary === kept.action.summary && action.details === kept.action.details;
  const id = action.workflowId ?? `${scheduleId}-workflow`;
  const { requestId: _request, workflowStartDelay: _delay, workflowIdConflictPolicy: _conflict, ...fields } = toStartFields(
    { ...action, id, taskQueue, requestId: "" },
    context.converter,
  );
  const header = headerField({ ...kept?.raw.header?.fields, ...headers });
  return {
    ...fields,
    workflowType: { name },
    ...header,
    ...(kept?.raw.priority && { priority: kept.raw.priority }),
    ...(kept?.raw.versioningOverride && { versioningOverride: kept.raw.versioningOverride }),
    ...(same("args") && kept?.raw.input
      ? { input: kept.raw.input }
      : { input: encodeArgs(context, `the arguments of workflow ${name}`, (action.args as unknown[] | undefined) ?? []) }),
    ...(same("memo") && kept?.raw.memo && { memo: kept.raw.memo }),
    ...(same("searchAttributes") && kept?.raw.searchAttributes && { searchAttributes: kept.raw.searchAttributes }),
    ...(text && kept?.raw.userMetadata && { userMetadata: kept.raw.userMetadata }),
  };
}

/** The message of a schedule. Throws a TypeError that names what is wrong. */
export function encodeSchedule(
  context: ClientContext,
  scheduleId: string,
  { spec, action, policies = {}, state = {} }: ScheduleUpdateOptions<AnyWorkflow>,
  headers: PayloadHeaders,
  kept?: Kept,
): MessageInitShape<typeof ScheduleSchema> {
  rejectUnknownOptions(`policies of schedule ${scheduleId}`, policies, POLICIES);
  rejectUnknownOptions(`the state of schedule ${scheduleId}`, state, STATE);
  const { catchupWindow } = policies;
  const { remainingActions } = state;
  if (remainingActions !== undefined && (!Number.isInteger(remainingActions) || remainingActions < 0)) {
    throw new TypeError(
      `state.remainingActions must be an integer of at least 0 (omit it for no limit), not ${remainingActions}`,
    );
  }
  return {
    spec: encodeSpec(spec),
    action: { action: { case: "startWorkflow", value: encodeAction(context, scheduleId, action, headers, kept) } },
    policies: {
      overlapPolicy: encodeOverlap(policies.overlap),
      ...(catchupWindow !== undefined && { catchupWindow: durationFromMs(toMs(catchupWindow)) }),
      pauseOnFailure: policies.pauseOnFailure ?? false,
      keepOriginalWorkflowId: kept?.keepOriginalWorkflowId ?? false,
    },
    state: {
      paused: state.paused ?? false,
      notes: state.note ?? "",
      limitedActions: remainingActions !== undefined,
      remainingActions: BigInt(remainingActions ?? 0),
    },
  };
}
