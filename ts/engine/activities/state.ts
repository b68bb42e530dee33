// The state of a standalone activity, in memory and as a row of the store. The row has the messages
// of the API: what descriptions show, the request of the start, and the outcome. The rest is JSON.
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import {
  type ActivityExecutionInfo,
  ActivityExecutionInfoSchema,
  type ActivityExecutionOutcome,
  ActivityExecutionOutcomeSchema,
} from "../../messages/generated/temporal/api/activity/v1/message_pb.ts";
import {
  type SearchAttributes,
  SearchAttributesSchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { decodeMessage, encodeMessage } from "../host_bytes.ts";
import { timestampMsIfSet } from "../schedules/durations.ts";
import type { ActivityRow, ActivityWrite, StoredActivity } from "../store.ts";

/** What the engine keeps of an activity besides its description. Times in ms since the epoch. */
export interface ActivityProgress {
  /** Ids of the requests that started it or attached to it. */
  requestIds: string[];
  /** When the attempt may be, or could be, given to a worker. */
  readyMs: number;
  /** When a worker has got the attempt; 0: none has. */
  startedMs: number;
  heartbeatMs: number;
  /** 0: the activity does not expire. */
  expirationMs: number;
  /** Names the attempt that a worker has. */
  nonce: string;
  isCancelRequested: boolean;
  isPaused: boolean;
  /** The attempt in a worker's hands belongs to the time before a reset. */
  wasReset: boolean;
  /** The next attempt gets no heartbeat details. */
  resetsHeartbeat: boolean;
  /** Ids of the last requests to cancel, pause and so on, by method. */
  lastRequestIds: { [method: string]: string };
}

/** A standalone activity. Steps change it in place. */
export interface LiveActivity {
  readonly info: ActivityExecutionInfo;
  readonly progress: ActivityProgress;
  outcome: ActivityExecutionOutcome | undefined;
  /** The queue in which it waits for a worker, and its place; undefined: it does not wait. */
  queued: QueuePlace | undefined;
  /** When it needs the engine next; Infinity: never. */
  deadlineMs: number;
}

/** Lower places first. */
export interface QueuePlace {
  readonly queue: string;
  readonly priority: number;
  readonly readyMs: number;
  /** Order of arrival. */
  readonly order: number;
}

export const isClosed = ({ info }: LiveActivity): boolean => info.closeTime !== undefined;

export const isStarted = ({ progress }: LiveActivity): boolean => progress.startedMs > 0;

export function newActivityProgress(requestId: string, readyMs: number, expirationMs: number) {
  const progress: ActivityProgress = {
    requestIds: [requestId],
    readyMs,
    startedMs: 0,
    heartbeatMs: 0,
    expirationMs,
    nonce: "",
    isCancelRequested: false,
    isPaused: false,
    wasReset: false,
    resetsHeartbeat: false,
    lastRequestIds: {},
  };
  return progress;
}

/** Throws for a row that does not decode. */
export function decodeActivity({ info, outcome, state }: StoredActivity): LiveActivity {
  const progress = JSON.parse(state) as ActivityProgress;
  return {
    info: decodeMessage(ActivityExecutionInfoSchema, info),
    progress,
    outcome: outcome.length === 0
      ? undefined
      : decodeMessage(ActivityExecutionOutcomeSchema, outcome),
    queued: undefined,
    deadlineMs: Infinity,
  };
}

/** The row of an activity; with the request of its start for a new one. */
export function encodeActivity(activity: LiveActivity, request?: Uint8Array): ActivityWrite {
  const { info, outcome, progress } = activity;
  return {
    runId: info.runId,
    row: rowOfInfo(info),
    info: encodeMessage(ActivityExecutionInfoSchema, info),
    outcome: outcome === undefined
      ? new Uint8Array(0)
      : encodeMessage(ActivityExecutionOutcomeSchema, outcome),
    state: JSON.stringify(progress),
    ...(request !== undefined && { request }),
  };
}

function rowOfInfo(info: ActivityExecutionInfo): ActivityRow {
  return {
    activityId: info.activityId,
    runId: info.runId,
    activityType: info.activityType?.name ?? "",
    taskQueue: info.taskQueue,
    status: info.status,
    startTimeMs: timestampMsIfSet(info.scheduleTime)!,
    executionTimeMs: timestampMsIfSet(info.executionTime) ?? timestampMsIfSet(info.scheduleTime)!,
    closeTimeMs: timestampMsIfSet(info.closeTime) ?? 0,
    searchAttributes: encodeAttributes(info.searchAttributes),
  };
}

function encodeAttributes(attributes: SearchAttributes | undefined): Uint8Array {
  if (attributes === undefined || Object.keys(attributes.indexedFields).length === 0) {
    return new Uint8Array(0);
  }
  return encodeMessage(SearchAttributesSchema, attributes);
}

export function createInfo(fields: MessageInitShape<typeof ActivityExecutionInfoSchema>) {
  return create(ActivityExecutionInfoSchema, fields);
}
