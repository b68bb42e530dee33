// The methods of standalone activities: checks, and the messages of the API.
import {
  ActivityExecutionInfoSchema,
  type ActivityExecutionOutcome,
} from "../../messages/generated/temporal/api/activity/v1/message_pb.ts";
import {
  CountActivityExecutionsRequestSchema,
  CountActivityExecutionsResponseSchema,
  DeleteActivityExecutionRequestSchema,
  DescribeActivityExecutionRequestSchema,
  DescribeActivityExecutionResponseSchema,
  ListActivityExecutionsRequestSchema,
  ListActivityExecutionsResponseSchema,
  PauseActivityExecutionRequestSchema,
  PollActivityExecutionRequestSchema,
  PollActivityExecutionResponseSchema,
  RequestCancelActivityExecutionRequestSchema,
  ResetActivityExecutionRequestSchema,
  StartActivityExecutionRequestSchema,
  TerminateActivityExecutionRequestSchema,
  UnpauseActivityExecutionRequestSchema,
  UpdateActivityExecutionOptionsRequestSchema,
  UpdateActivityExecutionOptionsResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import { decodeMessage, encodeMessage, invalid } from "../host_bytes.ts";
import { countGroups } from "../host_methods.ts";
import { readListToken, writeListToken } from "../list_methods.ts";
import { durationMsOrZero, timestampMsIfSet, timestampOfMs } from "../schedules/durations.ts";
import type { ActivityStore } from "../store.ts";
import type { MessageHost } from "../transaction_messages.ts";
import { ACTIVITY_FIELDS } from "../visibility/activity_fields.ts";
import { parseCount, parseQuery } from "../visibility/parse.ts";
import { describedInfo, listedInfo } from "./descriptions.ts";
import { pause, requestCancel, reset, terminate, unpause } from "./machine.ts";
import { checkedOptions, checkName, checkQueue, optionsOf, updatedOptions } from "./options.ts";
import { startActivity } from "./starts.ts";
import { isClosed, isStarted, type LiveActivity } from "./state.ts";
import { taskMethods } from "./tasks.ts";

/** What the methods need of the engine. */
export interface ActivityHost {
  readonly namespace: string;
  readonly store: ActivityStore;
  readonly messages: MessageHost;
  /** Throws for names of other namespaces. */
  ours(namespace: string): void;
  nowMs(): number;
  attributeTypes(): { readonly [name: string]: number } | undefined;
  /** Whether an encoded value is within the limit of payloads. */
  fits(bytes: Uint8Array): boolean;
  checkSize(what: string, bytes: Uint8Array): void;
  /** The latest run of an activity id. */
  latest(activityId: string): LiveActivity | undefined;
  /** A run; without a run id the latest one. */
  find(activityId: string, runId: string): LiveActivity | undefined;
  /** The same if it is open. */
  open(activityId: string, runId: string): LiveActivity | undefined;
  /** The request of its start. */
  request(activity: LiveActivity): Uint8Array;
  add(activity: LiveActivity, request: Uint8Array): void;
  change(activity: LiveActivity): void;
  remove(activity: LiveActivity): void;
}

const EMPTY: Uint8Array = new Uint8Array(0);
const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;
const utf8 = new TextEncoder();
const text = new TextDecoder();

const notFound = (activityId: string, runId: string) =>
  new ServiceError(
    Code.NOT_FOUND,
    `activity not found for ID: ${activityId}${runId === "" ? "" : ` and run ID: ${runId}`}`,
    "NotFound",
  );

interface Target {
  readonly namespace: string;
  readonly activityId: string;
  readonly runId: string;
}

/** Finds the activity that a request names. Throws a ServiceError (NOT_FOUND) without one. */
export function findActivity(host: ActivityHost, target: Target): LiveActivity {
  host.ours(target.namespace);
  checkName("ActivityId", target.activityId);
  const found = host.find(target.activityId, target.runId);
  if (found === undefined) throw notFound(target.activityId, target.runId);
  return found;
}

/** A request that changes an open activity. Returns undefined if it was carried out before. */
function openTarget(
  host: ActivityHost,
  method: string,
  request: Target & { readonly requestId: string },
): LiveActivity | undefined {
  const activity = findActivity(host, request);
  const { requestId } = request;
  const { lastRequestIds } = activity.progress;
  if (requestId !== "" && lastRequestIds[method] === requestId) return undefined;
  if (isClosed(activity)) {
    throw new ServiceError(
      Code.FAILED_PRECONDITION,
      `activity ${request.activityId} is closed`,
      "FailedPrecondition",
    );
  }
  if (requestId !== "") lastRequestIds[method] = requestId;
  host.change(activity);
  return activity;
}

/** Now, or a random time within the jitter. */
function withJitter(host: ActivityHost, jitter: Duration | undefined): number {
  return host.nowMs() + Math.floor(Math.random() * Math.max(0, durationMsOrZero(jitter)));
}

function changeMethods(host: ActivityHost) {
  return {
    startActivityExecution: (bytes: Uint8Array) => startActivity(host, bytes),
    requestCancelActivityExecution(bytes: Uint8Array) {
      const request = decodeMessage(RequestCancelActivityExecutionRequestSchema, bytes);
      const activity = openTarget(host, "cancel", request);
      if (activity !== undefined && !activity.progress.isCancelRequested) {
        requestCancel(activity, request.reason, request.identity, host.nowMs());
      }
      return EMPTY;
    },
    terminateActivityExecution(bytes: Uint8Array) {
      const request = decodeMessage(TerminateActivityExecutionRequestSchema, bytes);
      const activity = openTarget(host, "terminate", request);
      if (activity !== undefined) {
        terminate(activity, request.reason, request.identity, host.nowMs());
      }
      return EMPTY;
    },
    deleteActivityExecution(bytes: Uint8Array) {
      const request = decodeMessage(DeleteActivityExecutionRequestSchema, bytes);
      host.remove(findActivity(host, request));
      return EMPTY;
    },
    pauseActivityExecution(bytes: Uint8Array) {
      const request = decodeMessage(PauseActivityExecutionRequestSchema, bytes);
      const activity = openTarget(host, "pause", request);
      if (activity !== undefined) pause(activity);
      return EMPTY;
    },
    unpauseActivityExecution(bytes: Uint8Array) {
      const request = decodeMessage(UnpauseActivityExecutionRequestSchema, bytes);
      const activity = openTarget(host, "unpause", request);
      if (activity?.progress.isPaused) unpause(activity, withJitter(host, request.jitter));
      return EMPTY;
    },
    resetActivityExecution(bytes: Uint8Array) {
      const request = decodeMessage(ResetActivityExecutionRequestSchema, bytes);
      const activity = openTarget(host, "reset", request);
      if (activity === undefined) return EMPTY;
      if (request.restoreOriginalOptions) restoreOptions(host, activity);
      const { keepPaused, resetHeartbeat } = request;
      reset(activity, { keepPaused, resetHeartbeat, atMs: withJitter(host, request.jitter) });
      return EMPTY;
    },
    updateActivityExecutionOptions(bytes: Uint8Array) {
      const request = decodeMessage(UpdateActivityExecutionOptionsRequestSchema, bytes);
      const { paths = [] } = request.updateMask ?? {};
      if (request.restoreOriginal && paths.length > 0) {
        throw invalid("Both UpdateMask and RestoreOriginal are provided");
      }
      const current = findActivity(host, request);
      const options = request.restoreOriginal
        ? undefined
        : checkedUpdate(updatedOptions(optionsOf(current), request), request.activityId);
      const activity = openTarget(host, "update", request);
      if (activity !== undefined) {
        if (options === undefined) restoreOptions(host, activity);
        else setOptions(activity, options);
      }
      return encodeMessage(UpdateActivityExecutionOptionsResponseSchema, {
        activityOptions: optionsOf(activity ?? current),
      });
    },
  };
}

type Options = ReturnType<typeof optionsOf>;

function checkedUpdate(options: Options, activityId: string): Options {
  checkQueue(options.taskQueue?.name ?? "");
  return checkedOptions(options, activityId);
}

function restoreOptions(host: ActivityHost, activity: LiveActivity): void {
  setOptions(
    activity,
    decodeMessage(StartActivityExecutionRequestSchema, host.request(activity)),
  );
}

function setOptions(activity: LiveActivity, options: Omit<Options, "$typeName">): void {
  const { info, progress } = activity;
  const delayMs = durationMsOrZero(info.startDelay);
  info.taskQueue = options.taskQueue?.name ?? info.taskQueue;
  info.scheduleToCloseTimeout = options.scheduleToCloseTimeout!;
  info.scheduleToStartTimeout = options.scheduleToStartTimeout!;
  info.startToCloseTimeout = options.startToCloseTimeout!;
  info.heartbeatTimeout = options.heartbeatTimeout!;
  info.retryPolicy = options.retryPolicy!;
  if (options.priority === undefined) delete info.priority;
  else info.priority = options.priority;
  if (options.startDelay === undefined) delete info.startDelay;
  else info.startDelay = options.startDelay;
  const changeMs = durationMsOrZero(info.startDelay) - delayMs;
  const readyMs = timestampMsIfSet(info.scheduleTime)! + durationMsOrZero(info.startDelay);
  info.executionTime = timestampOfMs(readyMs);
  if (changeMs !== 0 && info.attempt === 1 && !isStarted(activity)) progress.readyMs = readyMs;
  const closeMs = durationMsOrZero(info.scheduleToCloseTimeout);
  progress.expirationMs = closeMs > 0 ? readyMs + closeMs : 0;
  if (closeMs > 0) info.expirationTime = timestampOfMs(progress.expirationMs);
  else delete info.expirationTime;
}

function listMethods(host: ActivityHost) {
  return {
    listActivityExecutions(bytes: Uint8Array) {
      const request = decodeMessage(ListActivityExecutionsRequestSchema, bytes);
      host.ours(request.namespace);
      const { query, pageSize, nextPageToken } = request;
      if (pageSize < 0) throw invalid("the page size must not be negative");
      const size = Math.min(pageSize === 0 ? DEFAULT_PAGE : pageSize, MAX_PAGE);
      const types = host.attributeTypes();
      const parsed = parseQuery(query, types, ACTIVITY_FIELDS);
      const { infos, next } = host.store.list(parsed, size, readListToken(nextPageToken, query));
      return encodeMessage(ListActivityExecutionsResponseSchema, {
        executions: infos.map((info) =>
          listedInfo(decodeMessage(ActivityExecutionInfoSchema, info), types)
        ),
        nextPageToken: next === undefined ? EMPTY : writeListToken(next, query),
      });
    },
    countActivityExecutions(bytes: Uint8Array) {
      const request = decodeMessage(CountActivityExecutionsRequestSchema, bytes);
      host.ours(request.namespace);
      const { where, byStatus } = parseCount(
        request.query,
        host.attributeTypes(),
        ACTIVITY_FIELDS,
      );
      const counts = host.store.countByStatus(where);
      return encodeMessage(CountActivityExecutionsResponseSchema, {
        count: [...counts.values()].reduce((sum, count) => sum + BigInt(count), 0n),
        groups: byStatus ? countGroups(counts, ACTIVITY_FIELDS.statuses) : [],
      });
    },
  };
}

/** All methods but those that wait (`waitedResponse`). */
export function activityMethods(host: ActivityHost) {
  return {
    ...changeMethods(host),
    ...listMethods(host),
    ...taskMethods(host),
  } satisfies { [name in MethodName]?: (request: Uint8Array) => Uint8Array };
}

// --------------------------------------------------------------------------- methods that may wait

/** Methods whose call may wait for a change of an activity. */
export const WAITING_METHODS = ["pollActivityExecution", "describeActivityExecution"] as const;
export type WaitingMethod = typeof WAITING_METHODS[number];

const outcomeOf = ({ outcome }: LiveActivity): { outcome?: ActivityExecutionOutcome } =>
  outcome === undefined ? {} : { outcome };

/** A decoded call that may wait. */
export interface ActivityWait extends Target {
  /** Returns the response; undefined: the call waits. */
  respond(activity: LiveActivity): Uint8Array | undefined;
  /** The response at the end of the long poll. */
  readonly empty: Uint8Array;
}

/** Decodes a call that may wait. Throws a ServiceError. */
export function readWait(
  host: ActivityHost,
  method: WaitingMethod,
  bytes: Uint8Array,
): ActivityWait {
  return method === "pollActivityExecution"
    ? pollWait(decodeMessage(PollActivityExecutionRequestSchema, bytes))
    : describeWait(host, bytes);
}

function pollWait({ namespace, activityId, runId }: Target): ActivityWait {
  return {
    namespace,
    activityId,
    runId,
    empty: encodeMessage(PollActivityExecutionResponseSchema, { runId }),
    respond: (activity) =>
      isClosed(activity)
        ? encodeMessage(PollActivityExecutionResponseSchema, {
          runId: activity.info.runId,
          ...outcomeOf(activity),
        })
        : undefined,
  };
}

function describeWait(host: ActivityHost, bytes: Uint8Array): ActivityWait {
  const request = decodeMessage(DescribeActivityExecutionRequestSchema, bytes);
  const { namespace, activityId, runId, longPollToken } = request;
  if (longPollToken.length > 0 && runId === "") {
    throw invalid("RunId is not set on request: a long poll token needs the run that it is of");
  }
  const known = longPollToken.length === 0 ? undefined : text.decode(longPollToken);
  if (known !== undefined && !/^\d+$/.test(known)) throw invalid("invalid long_poll_token");
  return {
    namespace,
    activityId,
    runId,
    empty: encodeMessage(DescribeActivityExecutionResponseSchema, {}),
    respond(activity) {
      const state = String(activity.info.stateTransitionCount);
      if (state === known && !isClosed(activity)) return undefined;
      const { input } = request.includeInput
        ? decodeMessage(StartActivityExecutionRequestSchema, host.request(activity))
        : {};
      return encodeMessage(DescribeActivityExecutionResponseSchema, {
        runId: activity.info.runId,
        info: describedInfo(activity, host.nowMs(), host.attributeTypes(), {
          heartbeatDetails: request.includeHeartbeatDetails,
          lastFailure: request.includeLastFailure,
        }),
        ...(input && { input }),
        ...(request.includeOutcome && outcomeOf(activity)),
        ...(!isClosed(activity) && { longPollToken: utf8.encode(state) }),
      });
    },
  };
}
