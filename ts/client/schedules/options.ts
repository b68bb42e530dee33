// Options of a schedule and their conversion to messages.
import { type OptionNames, rejectUnknownOptions } from "../../base/option_names.ts";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { deriveId } from "../../converter/derived_id.ts";
import { type Duration, toMs } from "../../converter/duration.ts";
import type { SearchAttributes } from "../../converter/search_attributes.ts";
import { ScheduleOverlapPolicy as WireOverlap } from "../../messages/generated/temporal/api/enums/v1/schedule_pb.ts";
import type {
  BackfillRequestSchema,
  ScheduleSchema,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";
import type { NewWorkflowExecutionInfo } from "../../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import { durationFromMs, timestampFromDate } from "../../messages/well_known.ts";
import { type ClientContext, encodeArgs, headerField, type PayloadHeaders } from "../context.ts";
import {
  type AnyWorkflow,
  type ArgsOption,
  definitionName,
  type WorkflowArgs,
} from "../definitions.ts";
import { toStartFields, type WorkflowOptions } from "../options.ts";
import { encodeSpec, type ScheduleSpec } from "./spec.ts";

/**
 * What happens if the previous workflow is still running: nothing (SKIP), one start later
 * (BUFFER_ONE), all starts later (BUFFER_ALL), the old one is canceled or terminated, or both run
 * (ALLOW_ALL).
 */
export type ScheduleOverlapPolicy = Exclude<keyof typeof WireOverlap, "UNSPECIFIED">;

/** The workflow that a schedule starts. */
export type ScheduleAction<W extends AnyWorkflow = string> =
  & {
    /** The only type of action. */
    type: "startWorkflow";
    /** The definition of the workflow, or the name of its type. */
    workflowType: W;
    /**
     * Prefix of the workflow ids; the service appends the time. Default: the id that the definition
     * derives from `args`, else the schedule's id and "-workflow".
     */
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

/** Policies of a schedule. */
export interface SchedulePolicies {
  /** Policy if the previous workflow is still running. Default: SKIP. */
  overlap?: ScheduleOverlapPolicy;
  /** Maximum delay of an action after an outage of the service. Default: one year. */
  catchupWindow?: Duration;
  /**
   * Pause if a workflow fails or times out; not with ALLOW_ALL, for which the service does not
   * track workflows. Default: false.
   */
  pauseOnFailure?: boolean;
}

/** State of a schedule. */
export interface ScheduleState {
  /** Starts no workflows by itself. Default: false. */
  paused?: boolean;
  /** Note, such as the reason of a pause. The service may change it. */
  note?: string;
  /** Maximum number of remaining actions. Default: no limit. */
  remainingActions?: number;
}

/** A time range whose actions run now. */
export interface Backfill {
  /** Beginning of the range. */
  start: Date;
  /** End of the range. */
  end: Date;
  /** Overlap policy of these actions. Default: the schedule's. */
  overlap?: ScheduleOverlapPolicy;
}

/** Options of `client.schedule.create`. */
export interface ScheduleOptions<W extends AnyWorkflow = string> {
  /** Id of the schedule, unique in the namespace. */
  scheduleId: string;
  /** Times of its actions. */
  spec: ScheduleSpec;
  /** The workflow that it starts. */
  action: ScheduleAction<W>;
  /** Policies of its actions. */
  policies?: SchedulePolicies;
  /** Initial state, and actions at its creation. */
  state?: ScheduleState & {
    /** Run the action once at once. */
    triggerImmediately?: boolean;
    /** Run the actions of these times. */
    backfill?: readonly Backfill[];
  };
  /** Memo of the schedule itself, in describe and list; the action has a separate one. */
  memo?: { [key: string]: unknown };
  /**
   * Search attributes of the schedule itself, for `client.schedule.list`; the action has separate
   * ones.
   */
  searchAttributes?: SearchAttributes;
  /** Deduplicates creations. Default: a new id for each call. */
  requestId?: string;
}

/** Result of the function passed to `handle.update`. Omitted parts have their defaults. */
export interface ScheduleUpdateOptions<W extends AnyWorkflow = string> {
  /** Times of its actions. */
  spec: ScheduleSpec;
  /** The workflow that it starts. */
  action: ScheduleAction<W>;
  /** Policies of its actions. */
  policies?: SchedulePolicies;
  state?: ScheduleState;
  /** Search attributes of the schedule; unchanged if omitted. */
  searchAttributes?: SearchAttributes;
}

/** An action on a schedule that does not change its definition. */
export interface SchedulePatch {
  /** Pause, with this note. */
  pause?: string;
  /** Unpause, with this note. */
  unpause?: string;
  /** Run the action now. */
  trigger?: {
    /** Overlap policy of this action. */
    overlap: ScheduleOverlapPolicy | undefined;
  };
  /** Run the actions of these times now. */
  backfill?: readonly Backfill[];
}

const BACKFILL: OptionNames<Backfill> = { start: 1, end: 1, overlap: 1 };
const POLICIES: OptionNames<SchedulePolicies> = { overlap: 1, catchupWindow: 1, pauseOnFailure: 1 };
const STATE: OptionNames<NonNullable<ScheduleOptions["state"]>> = {
  ...{ paused: 1, note: 1, remainingActions: 1, triggerImmediately: 1, backfill: 1 },
};
const ACTION: OptionNames<ScheduleAction> = {
  ...{
    type: 1,
    workflowType: 1,
    workflowId: 1,
    args: 1,
    taskQueue: 1,
    executionTimeout: 1,
    runTimeout: 1,
    taskTimeout: 1,
  },
  ...{ retry: 1, memo: 1, searchAttributes: 1, summary: 1, details: 1 },
};
export const UPDATE_SCHEDULE: OptionNames<ScheduleUpdateOptions> = {
  ...{ spec: 1, action: 1, policies: 1, state: 1, searchAttributes: 1 },
};
export const CREATE_SCHEDULE: OptionNames<ScheduleOptions> = {
  scheduleId: 1,
  ...UPDATE_SCHEDULE,
  memo: 1,
  requestId: 1,
};

export function encodeOverlap(
  overlap: ScheduleOverlapPolicy | undefined,
  otherwise: WireOverlap = WireOverlap.UNSPECIFIED,
) {
  if (overlap === undefined) return otherwise;
  const value = Object.hasOwn(WireOverlap, overlap) ? WireOverlap[overlap] : undefined;
  if (value !== undefined) return value;
  const known = Object.keys(WireOverlap).filter((name) => name !== "UNSPECIFIED");
  throw new TypeError(
    `invalid overlap policy ${JSON.stringify(overlap)}; valid values: ${known.join(", ")}`,
  );
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
  return {
    startTime: timestampFromDate(start),
    endTime: timestampFromDate(end),
    overlapPolicy: encodeOverlap(overlap),
  };
}

/**
 * Parts of an earlier action that an update keeps: values that this client may not decode, and
 * unknown fields.
 */
export interface Kept {
  readonly action:
    & Pick<ScheduleAction<AnyWorkflow>, "memo" | "searchAttributes" | "summary" | "details">
    & { args?: unknown };
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
      `the action of schedule ${scheduleId} has the type ${
        JSON.stringify(action?.type)
      }; the only valid type is "startWorkflow"`,
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
  const text = kept !== undefined && action.summary === kept.action.summary &&
    action.details === kept.action.details;
  const id = action.workflowId ??
    deriveId(action.workflowType, (action.args as unknown[] | undefined) ?? []) ??
    `${scheduleId}-workflow`;
  const {
    requestId: _request,
    workflowStartDelay: _delay,
    workflowIdConflictPolicy: _conflict,
    ...fields
  } = toStartFields(
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
    ...(same("args") && kept?.raw.input ? { input: kept.raw.input } : {
      input: encodeArgs(
        context,
        `the arguments of workflow ${name}`,
        (action.args as unknown[] | undefined) ?? [],
      ),
    }),
    ...(same("memo") && kept?.raw.memo && { memo: kept.raw.memo }),
    ...(same("searchAttributes") && kept?.raw.searchAttributes &&
      { searchAttributes: kept.raw.searchAttributes }),
    ...(text && kept?.raw.userMetadata && { userMetadata: kept.raw.userMetadata }),
  };
}

/** Returns the message of a schedule. Throws a TypeError that names the invalid field. */
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
  if (
    remainingActions !== undefined && (!Number.isInteger(remainingActions) || remainingActions < 0)
  ) {
    throw new TypeError(
      `state.remainingActions must be an integer of at least 0 (omit it for no limit), not ${remainingActions}`,
    );
  }
  return {
    spec: encodeSpec(spec),
    action: {
      action: {
        case: "startWorkflow",
        value: encodeAction(context, scheduleId, action, headers, kept),
      },
    },
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
