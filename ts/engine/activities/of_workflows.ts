// Methods for activities of both kinds: with a workflow id they concern an activity of that workflow,
// and become calls of the older methods, which the state machine serves.
import {
  PauseActivityExecutionRequestSchema,
  PauseActivityRequestSchema,
  ResetActivityExecutionRequestSchema,
  ResetActivityRequestSchema,
  UnpauseActivityExecutionRequestSchema,
  UnpauseActivityRequestSchema,
  UpdateActivityExecutionOptionsRequestSchema,
  UpdateActivityOptionsRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { MethodName } from "../../service/raw.ts";
import { decodeMessage, encodeMessage } from "../host_bytes.ts";

interface Forwarded {
  readonly method: MethodName;
  readonly request: Uint8Array;
}

interface Target {
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
  readonly identity: string;
}

function targetFields({ namespace, workflowId, runId, activityId, identity }: Target) {
  return {
    namespace,
    execution: { workflowId, runId },
    identity,
    activity: { case: "id", value: activityId } as const,
  };
}

/**
 * The call of the older method; undefined for other methods, and for standalone activities. Throws a
 * ServiceError for bytes that do not decode.
 */
export function callForWorkflow(method: MethodName, bytes: Uint8Array): Forwarded | undefined {
  switch (method) {
    case "pauseActivityExecution": {
      const request = decodeMessage(PauseActivityExecutionRequestSchema, bytes);
      if (request.workflowId === "") return undefined;
      const { reason } = request;
      const fields = { ...targetFields(request), reason };
      return {
        method: "pauseActivity",
        request: encodeMessage(PauseActivityRequestSchema, fields),
      };
    }
    case "unpauseActivityExecution": {
      const request = decodeMessage(UnpauseActivityExecutionRequestSchema, bytes);
      if (request.workflowId === "") return undefined;
      const { jitter } = request;
      const fields = { ...targetFields(request), ...(jitter && { jitter }) };
      return {
        method: "unpauseActivity",
        request: encodeMessage(UnpauseActivityRequestSchema, fields),
      };
    }
    case "resetActivityExecution": {
      const request = decodeMessage(ResetActivityExecutionRequestSchema, bytes);
      if (request.workflowId === "") return undefined;
      const { keepPaused, resetHeartbeat, restoreOriginalOptions, jitter } = request;
      const fields = {
        ...targetFields(request),
        keepPaused,
        resetHeartbeat,
        restoreOriginalOptions,
        ...(jitter && { jitter }),
      };
      return {
        method: "resetActivity",
        request: encodeMessage(ResetActivityRequestSchema, fields),
      };
    }
    case "updateActivityExecutionOptions": {
      const request = decodeMessage(UpdateActivityExecutionOptionsRequestSchema, bytes);
      if (request.workflowId === "") return undefined;
      const { activityOptions, updateMask, restoreOriginal } = request;
      const fields = {
        ...targetFields(request),
        restoreOriginal,
        ...(activityOptions && { activityOptions }),
        ...(updateMask && { updateMask }),
      };
      return {
        method: "updateActivityOptions",
        request: encodeMessage(UpdateActivityOptionsRequestSchema, fields),
      };
    }
    default:
      return undefined;
  }
}
