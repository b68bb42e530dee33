// StartActivityExecution: its checks, and what it finds under its activity id.
import {
  ActivityExecutionStatus as Status,
  ActivityIdConflictPolicy as Conflict,
  ActivityIdReusePolicy as Reuse,
} from "../../messages/generated/temporal/api/enums/v1/activity_pb.ts";
import {
  type StartActivityExecutionRequest,
  StartActivityExecutionRequestSchema,
  StartActivityExecutionResponseSchema,
  StartWorkflowExecutionRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { create } from "@bufbuild/protobuf";
import { PayloadsSchema } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { randomId } from "../../platform/host.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import { decodeMessage, encodeMessage, invalid } from "../host_bytes.ts";
import { checkStart } from "../schedules/check_start.ts";
import { durationMsOrZero, timestampOfMs } from "../schedules/durations.ts";
import type { MessageHost } from "../transaction_messages.ts";
import type { ActivityHost } from "./methods.ts";
import { checkedOptions, checkName, checkQueue } from "./options.ts";
import { createInfo, isClosed, type LiveActivity, newActivityProgress } from "./state.ts";

/** Statuses after which ALLOW_DUPLICATE_FAILED_ONLY allows another run. */
const FAILED: readonly Status[] = [
  Status.FAILED,
  Status.CANCELED,
  Status.TERMINATED,
  Status.TIMED_OUT,
];

/** Request ids, and links, of one activity: each change writes all. */
const MAX_ATTACHED = 1000;

export function startActivity(host: ActivityHost, bytes: Uint8Array): Uint8Array {
  const request = decodeMessage(StartActivityExecutionRequestSchema, bytes);
  host.ours(request.namespace);
  const checked = checkedStart(host, request);
  const latest = host.latest(request.activityId);
  const { requestId } = request;
  if (latest !== undefined) {
    if (requestId !== "" && latest.progress.requestIds.includes(requestId)) {
      return started(host, latest, true);
    }
    if (!isClosed(latest)) {
      if (request.idConflictPolicy !== Conflict.USE_EXISTING) {
        throw alreadyStarted(latest, "Activity execution is already running.");
      }
      attach(host, latest, request);
      return started(host, latest, false);
    }
    const { status } = latest.info;
    if (request.idReusePolicy === Reuse.REJECT_DUPLICATE) {
      throw alreadyStarted(latest, "Activity execution already finished.");
    }
    if (
      request.idReusePolicy === Reuse.ALLOW_DUPLICATE_FAILED_ONLY && !FAILED.includes(status)
    ) throw alreadyStarted(latest, "Activity execution already finished successfully.");
  }
  const activity = newActivity(checked, host.nowMs());
  host.add(activity, encodeMessage(StartActivityExecutionRequestSchema, checked));
  return started(host, activity, true);
}

function started(host: ActivityHost, { info }: LiveActivity, isNew: boolean): Uint8Array {
  const { activityId, runId } = info;
  const value = { namespace: host.namespace, activityId, runId };
  return encodeMessage(StartActivityExecutionResponseSchema, {
    runId,
    started: isNew,
    link: { variant: { case: "activity", value } },
  });
}

function alreadyStarted({ info, progress }: LiveActivity, text: string): ServiceError {
  const { activityId, runId } = info;
  return new ServiceError(
    Code.ALREADY_EXISTS,
    `${text} ActivityId: ${activityId}, RunId: ${runId}.`,
    "ActivityExecutionAlreadyStarted",
    { run_id: runId, start_request_id: progress.requestIds[0] ?? "" },
  );
}

/** Adds what the request may add to the running activity. */
function attach(
  host: ActivityHost,
  activity: LiveActivity,
  { requestId, links, onConflictOptions: options }: StartActivityExecutionRequest,
): void {
  const { attachRequestId = false, attachLinks = false } = options ?? {};
  const { requestIds } = activity.progress, attached = activity.info.links.length;
  if (
    attachRequestId && requestIds.length >= MAX_ATTACHED ||
    attachLinks && attached + links.length > MAX_ATTACHED
  ) {
    throw new ServiceError(
      Code.FAILED_PRECONDITION,
      `activity ${activity.info.activityId} has ${requestIds.length} request ids and ${attached} links, at most ${MAX_ATTACHED} of each; start with another activity id`,
      "FailedPrecondition",
    );
  }
  if (attachRequestId && requestId !== "") activity.progress.requestIds.push(requestId);
  if (attachLinks) activity.info.links.push(...links);
  if (attachRequestId || attachLinks) host.change(activity);
}

function checkedStart(
  host: ActivityHost,
  request: StartActivityExecutionRequest,
): StartActivityExecutionRequest {
  const { activityId, activityType, taskQueue, input } = request;
  checkName("ActivityId", activityId);
  checkName("ActivityType", activityType?.name ?? "");
  checkQueue(taskQueue?.name ?? "");
  checkName("RequestId", request.requestId || "none");
  if (request.completionCallbacks.length > 0) {
    throw invalid("completion callbacks of activities are not supported; poll the result");
  }
  if (input !== undefined) {
    host.checkSize("StartActivityExecutionRequest.Input", encodeMessage(PayloadsSchema, input));
  }
  checkAttributes(host.messages, request);
  return checkedOptions(request, activityId);
}

/** Attributes, priority and metadata have the rules of a workflow's start. */
function checkAttributes(
  host: MessageHost,
  { activityType, taskQueue, searchAttributes, priority, header, userMetadata }:
    StartActivityExecutionRequest,
): void {
  if (
    searchAttributes === undefined && priority === undefined &&
    userMetadata === undefined && Object.keys(header?.fields ?? {}).length === 0
  ) return;
  const start = create(StartWorkflowExecutionRequestSchema, {
    workflowId: randomId(),
    requestId: randomId(),
    workflowType: { name: activityType!.name },
    taskQueue: { name: taskQueue!.name },
    ...(searchAttributes && { searchAttributes }),
    ...(priority && { priority }),
    ...(header && { header }),
    ...(userMetadata && { userMetadata }),
  });
  checkStart(host, start);
}

function newActivity(request: StartActivityExecutionRequest, nowMs: number): LiveActivity {
  const readyMs = nowMs + durationMsOrZero(request.startDelay);
  const closeMs = durationMsOrZero(request.scheduleToCloseTimeout);
  const expirationMs = closeMs > 0 ? readyMs + closeMs : 0;
  const { activityType, searchAttributes, header, userMetadata, priority, startDelay } = request;
  const info = createInfo({
    activityId: request.activityId,
    runId: randomId(),
    status: Status.RUNNING,
    taskQueue: request.taskQueue!.name,
    attempt: 1,
    scheduleToCloseTimeout: request.scheduleToCloseTimeout!,
    scheduleToStartTimeout: request.scheduleToStartTimeout!,
    startToCloseTimeout: request.startToCloseTimeout!,
    heartbeatTimeout: request.heartbeatTimeout!,
    retryPolicy: request.retryPolicy!,
    scheduleTime: timestampOfMs(nowMs),
    executionTime: timestampOfMs(readyMs),
    links: request.links,
    ...(activityType && { activityType }),
    ...(searchAttributes && { searchAttributes }),
    ...(header && { header }),
    ...(userMetadata && { userMetadata }),
    ...(priority && { priority }),
    ...(startDelay && { startDelay }),
    ...(expirationMs > 0 && { expirationTime: timestampOfMs(expirationMs) }),
  });
  return {
    info,
    progress: newActivityProgress(request.requestId || randomId(), readyMs, expirationMs),
    outcome: undefined,
    queued: undefined,
    deadlineMs: Infinity,
  };
}
