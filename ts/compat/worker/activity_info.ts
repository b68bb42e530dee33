// The official info of an attempt, from its task.
import type { Info } from "../activity/mod.ts";
import { decodePriority, decompileRetryPolicy } from "../common/mod.ts";
import { toPlain } from "../common/plain_proto.ts";
import type { ActivityContext } from "../../activity/context.ts";
import { taskOf } from "../../worker/activities/attempt_context.ts";
import {
  PrioritySchema,
  RetryPolicySchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";

function base64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Returns information about the attempt of a native context. `namespace` is the worker's. */
export function makeActivityInfo(context: ActivityContext, namespace: string): Info {
  const { info } = context;
  const task = taskOf(context);
  const inWorkflow = info.workflowId !== "";
  const { retryPolicy, priority } = task ?? {};
  return {
    taskToken: info.taskToken,
    base64TaskToken: base64(info.taskToken),
    activityId: info.activityId,
    activityType: info.activityType,
    activityNamespace: namespace,
    namespace: info.namespace,
    attempt: info.attempt,
    isLocal: info.isLocal,
    inWorkflow,
    ...(inWorkflow
      ? {
        workflowExecution: { workflowId: info.workflowId, runId: info.runId },
        workflowNamespace: info.namespace,
        workflowType: info.workflowType,
      }
      : { activityRunId: task?.activityRunId ?? "" }),
    scheduledTimestampMs: info.scheduledTime?.getTime() ?? 0,
    scheduleToCloseTimeoutMs: info.scheduleToCloseTimeoutMs ?? 0,
    startToCloseTimeoutMs: info.startToCloseTimeoutMs ?? 0,
    currentAttemptScheduledTimestampMs: info.currentAttemptScheduledTime?.getTime() ?? 0,
    ...(info.heartbeatTimeoutMs !== undefined && { heartbeatTimeoutMs: info.heartbeatTimeoutMs }),
    heartbeatDetails: info.heartbeatDetails,
    taskQueue: info.taskQueue,
    priority: decodePriority(
      priority === undefined ? undefined : toPlain(PrioritySchema, priority),
    ),
    ...(retryPolicy !== undefined &&
      { retryPolicy: decompileRetryPolicy(toPlain(RetryPolicySchema, retryPolicy)) }),
  } as Info;
}

/** Returns the attributes of an activity's log lines. */
export function activityLogAttributes(info: Info): Record<string, unknown> {
  return {
    isLocal: info.isLocal,
    attempt: info.attempt,
    namespace: info.namespace,
    taskToken: info.base64TaskToken,
    activityId: info.activityId,
    activityType: info.activityType,
    taskQueue: info.taskQueue,
    ...(info.inWorkflow
      ? {
        workflowId: info.workflowExecution?.workflowId,
        workflowRunId: info.workflowExecution?.runId,
        workflowType: info.workflowType,
      }
      : { activityRunId: info.activityRunId }),
  };
}
