// Tasks of standalone activities: their tokens, and the reports and heartbeats of workers, by token
// or by activity id. Those of activities of workflows go to the state machine.
import { type MessageShape, toBinary } from "@bufbuild/protobuf";
import { PayloadsSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { FailureSchema } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  PollActivityTaskQueueRequestSchema,
  PollActivityTaskQueueResponseSchema,
  RecordActivityTaskHeartbeatByIdRequestSchema,
  RecordActivityTaskHeartbeatRequestSchema,
  RecordActivityTaskHeartbeatResponseSchema,
  RespondActivityTaskCanceledByIdRequestSchema,
  RespondActivityTaskCanceledRequestSchema,
  RespondActivityTaskCompletedByIdRequestSchema,
  RespondActivityTaskCompletedRequestSchema,
  RespondActivityTaskFailedByIdRequestSchema,
  RespondActivityTaskFailedRequestSchema,
  type StartActivityExecutionRequest,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Fields } from "../../messages/wire.ts";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import { decodeMessage, encodeMessage, invalid } from "../host_bytes.ts";
import { timestampOfMs } from "../schedules/durations.ts";
import { cancel, complete, failAttempt, serverFailure, startAttempt } from "./machine.ts";
import type { ActivityHost } from "./methods.ts";
import { isStarted, type LiveActivity } from "./state.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder();
/** Tokens are JSON; those of the state machine are messages, which never begin with a brace. */
const BRACE = 0x7b;
const EMPTY: Uint8Array = new Uint8Array(0);

interface TaskToken {
  readonly runId: string;
  readonly activityId: string;
  readonly nonce: string;
}

function readToken(bytes: Uint8Array): TaskToken {
  try {
    const { runId, activityId, nonce } = JSON.parse(text.decode(bytes)) as TaskToken;
    if (typeof runId === "string" && typeof activityId === "string" && nonce) {
      return { runId, activityId, nonce };
    }
  } catch {
    // Rejected below.
  }
  throw invalid("error deserializing task token");
}

const taskNotFound = () =>
  new ServiceError(
    Code.NOT_FOUND,
    "activity task not found: the activity is closed, or another attempt has begun",
    "NotFound",
  );

/** Field numbers with their wire type. */
const TOKEN = 10, WORKFLOW_ID = 18;
const BY_TOKEN: readonly MethodName[] = [
  "recordActivityTaskHeartbeat",
  "respondActivityTaskCompleted",
  "respondActivityTaskFailed",
  "respondActivityTaskCanceled",
];
const BY_ID: readonly MethodName[] = [
  "recordActivityTaskHeartbeatById",
  "respondActivityTaskCompletedById",
  "respondActivityTaskFailedById",
  "respondActivityTaskCanceledById",
];

/** Whether a report or a heartbeat concerns a standalone activity. */
export function concernsStandalone(method: MethodName, request: Uint8Array): boolean {
  const tag = BY_TOKEN.includes(method) ? TOKEN : BY_ID.includes(method) ? WORKFLOW_ID : 0;
  if (tag === 0) return false;
  try {
    for (const at = new Fields(request); at.next();) {
      if (at.tag !== tag) continue;
      return tag === TOKEN ? request[at.contentAt] === BRACE : at.text() === "";
    }
  } catch {
    // The state machine rejects it.
    return false;
  }
  return tag === WORKFLOW_ID;
}

/** The activity whose current attempt a worker has. */
function byToken(host: ActivityHost, bytes: Uint8Array): LiveActivity {
  const { runId, activityId, nonce } = readToken(bytes);
  const activity = host.open(activityId, runId);
  if (activity?.progress.nonce !== nonce) throw taskNotFound();
  return activity;
}

/** The activity by its id. `mayBegin`: an attempt that no worker polled counts as started now. */
function byId(
  host: ActivityHost,
  { activityId, runId, identity }: { activityId: string; runId: string; identity: string },
  mayBegin: boolean,
): LiveActivity {
  if (activityId === "") throw invalid("ActivityId is not set on request.");
  const activity = host.open(activityId, runId);
  if (activity === undefined) throw taskNotFound();
  if (!isStarted(activity)) {
    if (!mayBegin) throw taskNotFound();
    startAttempt(activity, { identity, nonce: "", nowMs: host.nowMs() });
  }
  return activity;
}

type Completed = Pick<MessageShape<typeof RespondActivityTaskCompletedRequestSchema>, "result">;
type Failed = Pick<
  MessageShape<typeof RespondActivityTaskFailedRequestSchema>,
  "failure" | "lastHeartbeatDetails"
>;
type Details = Pick<
  MessageShape<typeof RespondActivityTaskCanceledRequestSchema>,
  "details" | "identity"
>;

function completed(host: ActivityHost, activity: LiveActivity, { result }: Completed): Uint8Array {
  if (result !== undefined && !host.fits(toBinary(PayloadsSchema, result))) {
    const failure = serverFailure("Complete result exceeds size limit.");
    failAttempt(activity, failure, host.nowMs());
  } else complete(activity, result, host.nowMs());
  host.change(activity);
  return EMPTY;
}

function failed(
  host: ActivityHost,
  activity: LiveActivity,
  { failure = serverFailure("the worker sent no failure"), lastHeartbeatDetails: details }: Failed,
): Uint8Array {
  if (details !== undefined && host.fits(toBinary(PayloadsSchema, details))) {
    activity.info.heartbeatDetails = details;
  }
  const fits = host.fits(toBinary(FailureSchema, failure));
  failAttempt(
    activity,
    fits ? failure : serverFailure("Failure exceeds size limit."),
    host.nowMs(),
  );
  host.change(activity);
  return EMPTY;
}

function canceled(
  host: ActivityHost,
  activity: LiveActivity,
  { details, identity }: Details,
): Uint8Array {
  if (!activity.progress.isCancelRequested) {
    throw invalid(
      "unable to mark activity as canceled without activity being request canceled first",
    );
  }
  if (details !== undefined && !host.fits(toBinary(PayloadsSchema, details))) {
    const failure = serverFailure("Cancel details exceed size limit.");
    failAttempt(activity, failure, host.nowMs());
  } else cancel(activity, details, identity, host.nowMs());
  host.change(activity);
  return EMPTY;
}

function heartbeat(
  host: ActivityHost,
  activity: LiveActivity,
  { details }: Pick<Details, "details">,
): Uint8Array {
  const { info, progress } = activity;
  const nowMs = host.nowMs();
  host.change(activity);
  if (details !== undefined && !host.fits(toBinary(PayloadsSchema, details))) {
    failAttempt(activity, serverFailure("Heartbeat details exceed size limit."), nowMs);
    return encodeMessage(RecordActivityTaskHeartbeatResponseSchema, { cancelRequested: true });
  }
  progress.heartbeatMs = nowMs;
  info.lastHeartbeatTime = timestampOfMs(nowMs);
  info.totalHeartbeatCount++;
  if (details === undefined) delete info.heartbeatDetails;
  else info.heartbeatDetails = details;
  return encodeMessage(RecordActivityTaskHeartbeatResponseSchema, {
    cancelRequested: progress.isCancelRequested,
    activityPaused: progress.isPaused,
    activityReset: progress.wasReset,
  });
}

/** Reports of workers, after `concernsStandalone`. */
export function taskMethods(host: ActivityHost) {
  const token = { namespace: "", taskToken: EMPTY };
  type Token = typeof token;
  type Id = { namespace: string; activityId: string; runId: string; identity: string };
  const ofToken = (request: Token) => {
    host.ours(request.namespace);
    return byToken(host, request.taskToken);
  };
  const ofId = (request: Id, mayBegin: boolean) => {
    host.ours(request.namespace);
    return byId(host, request, mayBegin);
  };
  return {
    recordActivityTaskHeartbeat(bytes: Uint8Array) {
      const request = decodeMessage(RecordActivityTaskHeartbeatRequestSchema, bytes);
      return heartbeat(host, ofToken(request), request);
    },
    recordActivityTaskHeartbeatById(bytes: Uint8Array) {
      const request = decodeMessage(RecordActivityTaskHeartbeatByIdRequestSchema, bytes);
      return heartbeat(host, ofId(request, false), request);
    },
    respondActivityTaskCompleted(bytes: Uint8Array) {
      const request = decodeMessage(RespondActivityTaskCompletedRequestSchema, bytes);
      return completed(host, ofToken(request), request);
    },
    respondActivityTaskCompletedById(bytes: Uint8Array) {
      const request = decodeMessage(RespondActivityTaskCompletedByIdRequestSchema, bytes);
      return completed(host, ofId(request, true), request);
    },
    respondActivityTaskFailed(bytes: Uint8Array) {
      const request = decodeMessage(RespondActivityTaskFailedRequestSchema, bytes);
      return failed(host, ofToken(request), request);
    },
    respondActivityTaskFailedById(bytes: Uint8Array) {
      const request = decodeMessage(RespondActivityTaskFailedByIdRequestSchema, bytes);
      return failed(host, ofId(request, true), request);
    },
    respondActivityTaskCanceled(bytes: Uint8Array) {
      const request = decodeMessage(RespondActivityTaskCanceledRequestSchema, bytes);
      return canceled(host, ofToken(request), request);
    },
    respondActivityTaskCanceledById(bytes: Uint8Array) {
      const request = decodeMessage(RespondActivityTaskCanceledByIdRequestSchema, bytes);
      return canceled(host, ofId(request, false), request);
    },
  } satisfies { [name in MethodName]?: (request: Uint8Array) => Uint8Array };
}

export interface ActivityPoll {
  readonly queue: string;
  readonly identity: string;
}

/** Queue and identity of a poll; undefined for bytes that do not decode. */
export function readPoll(bytes: Uint8Array): ActivityPoll | undefined {
  try {
    const request = decodeMessage(PollActivityTaskQueueRequestSchema, bytes);
    return { queue: request.taskQueue?.name ?? "", identity: request.identity };
  } catch {
    return undefined;
  }
}

/** The task of an attempt that has started, as an encoded PollActivityTaskQueueResponse. */
export function encodeActivityTask(
  { info, progress }: LiveActivity,
  namespace: string,
  { input }: StartActivityExecutionRequest,
): Uint8Array {
  const { activityId, runId, activityType, header, heartbeatDetails, retryPolicy, priority } = info;
  const { scheduleToCloseTimeout, startToCloseTimeout, heartbeatTimeout } = info;
  const token: TaskToken = { runId, activityId, nonce: progress.nonce };
  return encodeMessage(PollActivityTaskQueueResponseSchema, {
    taskToken: utf8.encode(JSON.stringify(token)),
    workflowNamespace: namespace,
    activityId,
    activityRunId: runId,
    attempt: info.attempt,
    scheduledTime: info.scheduleTime!,
    currentAttemptScheduledTime: timestampOfMs(progress.readyMs),
    startedTime: timestampOfMs(progress.startedMs),
    ...(activityType && { activityType }),
    ...(header && { header }),
    ...(input && { input }),
    ...(heartbeatDetails && { heartbeatDetails }),
    ...(retryPolicy && { retryPolicy }),
    ...(priority && { priority }),
    ...(scheduleToCloseTimeout && { scheduleToCloseTimeout }),
    ...(startToCloseTimeout && { startToCloseTimeout }),
    ...(heartbeatTimeout && { heartbeatTimeout }),
  });
}
