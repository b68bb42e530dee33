// The operations of batches: what each requests of the state machine for one workflow, and the
// checks when it starts.
import { create } from "@bufbuild/protobuf";
import { EmptySchema } from "../../messages/well_known.ts";
import {
  type ResetOptions,
  ResetOptionsSchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { BatchOperationType } from "../../messages/generated/temporal/api/enums/v1/batch_operation_pb.ts";
import { ResetType } from "../../messages/generated/temporal/api/enums/v1/reset_pb.ts";
import type { BatchOperationReset } from "../../messages/generated/temporal/api/batch/v1/message_pb.ts";
import {
  RequestCancelWorkflowExecutionRequestSchema,
  ResetActivityRequestSchema,
  ResetWorkflowExecutionRequestSchema,
  SignalWorkflowExecutionRequestSchema,
  type StartBatchOperationRequest,
  TerminateWorkflowExecutionRequestSchema,
  UnpauseActivityRequestSchema,
  UpdateActivityOptionsRequestSchema,
  UpdateWorkflowExecutionOptionsRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { randomId } from "../../platform/host.ts";
import { Code, type MethodName, ServiceError } from "../../service/raw.ts";
import { encodeMessage, invalid } from "../host_bytes.ts";
import type { ResetPoint } from "./reset_points.ts";
import type { BatchTarget } from "./state.ts";

type Operation = StartBatchOperationRequest["operation"];
type OperationName = NonNullable<Operation["case"]>;

interface Kind {
  /** As a server names it in descriptions; undefined: not supported. */
  readonly type?: BatchOperationType;
  /** Applies to open workflows only: others of a query are not selected. */
  readonly isOfOpen: boolean;
  /** Workflows in one commit. */
  readonly slice: number;
}

const KINDS: { readonly [name in OperationName]: Kind } = {
  terminationOperation: { type: BatchOperationType.TERMINATE, isOfOpen: true, slice: 32 },
  signalOperation: { type: BatchOperationType.SIGNAL, isOfOpen: true, slice: 32 },
  cancellationOperation: { type: BatchOperationType.CANCEL, isOfOpen: true, slice: 32 },
  deletionOperation: { type: BatchOperationType.DELETE, isOfOpen: false, slice: 16 },
  // Each reads the history.
  resetOperation: { type: BatchOperationType.RESET, isOfOpen: false, slice: 4 },
  unpauseActivitiesOperation: {
    type: BatchOperationType.UNPAUSE_ACTIVITY,
    isOfOpen: true,
    slice: 32,
  },
  resetActivitiesOperation: { type: BatchOperationType.RESET_ACTIVITY, isOfOpen: true, slice: 32 },
  updateActivityOptionsOperation: {
    type: BatchOperationType.UPDATE_ACTIVITY_OPTIONS,
    isOfOpen: true,
    slice: 32,
  },
  updateWorkflowOptionsOperation: {
    type: BatchOperationType.UPDATE_EXECUTION_OPTIONS,
    isOfOpen: true,
    slice: 32,
  },
  cancelActivitiesOperation: { isOfOpen: true, slice: 32 },
  terminateActivitiesOperation: { isOfOpen: true, slice: 32 },
  deleteActivitiesOperation: { isOfOpen: true, slice: 32 },
};

export function operationKind({ case: name }: Operation): Kind {
  if (name === undefined) throw invalid("the batch operation has no operation");
  return KINDS[name];
}

/** Who started the operation. */
export function operationIdentity({ value }: Operation): string {
  return value !== undefined && "identity" in value ? value.identity : "";
}

/** Throws a ServiceError for an operation that cannot be applied to any workflow. */
export function checkOperation(operation: Operation): void {
  if (operationKind(operation).type === undefined) {
    throw new ServiceError(
      Code.UNIMPLEMENTED,
      `the embedded engine does not have batch operations of this kind (${operation.case}): standalone activities are changed one at a time`,
      "Unimplemented",
    );
  }
  switch (operation.case) {
    case "signalOperation":
      if (operation.value.signal === "") throw invalid("must provide signal name");
      break;
    case "resetOperation":
      resetOptions(operation.value);
      if (operation.value.postResetOperations.length > 0) {
        throw new ServiceError(
          Code.UNIMPLEMENTED,
          "operations after a reset (post_reset_operations) are not supported by this engine",
          "Unimplemented",
        );
      }
      break;
    case "updateWorkflowOptionsOperation":
      if (operation.value.updateMask === undefined) throw invalid("UpdateMask is required");
      break;
    case "unpauseActivitiesOperation":
    case "resetActivitiesOperation":
    case "updateActivityOptionsOperation":
      if (!operation.value.activity.value) throw invalid("activity filter must be set");
  }
}

/** The options of a reset; the older fields are options too. */
export function resetOptions(
  { options, resetType, resetReapplyType }: BatchOperationReset,
): ResetOptions {
  if (options !== undefined) {
    if (options.target.case === undefined) throw invalid("the reset options have no target");
    return options;
  }
  const empty = create(EmptySchema);
  const target = resetType === ResetType.FIRST_WORKFLOW_TASK
    ? { case: "firstWorkflowTask", value: empty } as const
    : resetType === ResetType.LAST_WORKFLOW_TASK
    ? { case: "lastWorkflowTask", value: empty } as const
    : undefined;
  if (target === undefined) {
    throw invalid(
      resetType === ResetType.UNSPECIFIED
        ? "unknown batch reset type Unspecified"
        : `unknown batch reset type ${resetType}`,
    );
  }
  return create(ResetOptionsSchema, { target, resetReapplyType });
}

export interface BatchRequest {
  readonly method: MethodName;
  readonly request: Uint8Array;
}

export interface BatchRequestParts {
  readonly namespace: string;
  readonly target: BatchTarget;
  readonly reason: string;
  /** Finds the point of a reset. */
  point(options: ResetOptions): ResetPoint;
}

/** What an operation requests for one workflow. A deletion terminates the run first. */
export function requestForTarget(
  operation: Operation,
  { namespace, target, reason, point }: BatchRequestParts,
): BatchRequest {
  const common = { namespace, workflowExecution: target };
  switch (operation.case) {
    case "terminationOperation": {
      const { identity, details } = operation.value;
      const request = { ...common, reason, identity, ...(details !== undefined && { details }) };
      return {
        method: "terminateWorkflowExecution",
        request: encodeMessage(TerminateWorkflowExecutionRequestSchema, request),
      };
    }
    case "deletionOperation": {
      const { identity } = operation.value;
      const request = { ...common, reason: "Delete workflow execution", identity };
      return {
        method: "terminateWorkflowExecution",
        request: encodeMessage(TerminateWorkflowExecutionRequestSchema, request),
      };
    }
    case "cancellationOperation": {
      const { identity } = operation.value;
      const request = { ...common, reason, identity, requestId: randomId() };
      return {
        method: "requestCancelWorkflowExecution",
        request: encodeMessage(RequestCancelWorkflowExecutionRequestSchema, request),
      };
    }
    case "signalOperation": {
      const { signal, input, header, identity } = operation.value;
      const request = {
        ...common,
        signalName: signal,
        identity,
        requestId: randomId(),
        ...(input !== undefined && { input }),
        ...(header !== undefined && { header }),
      };
      return {
        method: "signalWorkflowExecution",
        request: encodeMessage(SignalWorkflowExecutionRequestSchema, request),
      };
    }
    case "resetOperation": {
      const options = resetOptions(operation.value);
      const { runId, eventId } = point(options);
      const request = {
        namespace,
        workflowExecution: { workflowId: target.workflowId, runId },
        reason,
        workflowTaskFinishEventId: eventId,
        requestId: randomId(),
        resetReapplyType: options.resetReapplyType,
        resetReapplyExcludeTypes: options.resetReapplyExcludeTypes,
        identity: operation.value.identity,
      };
      return {
        method: "resetWorkflowExecution",
        request: encodeMessage(ResetWorkflowExecutionRequestSchema, request),
      };
    }
    case "updateWorkflowOptionsOperation": {
      const { $typeName: _, ...rest } = operation.value;
      const request = { ...common, ...rest };
      return {
        method: "updateWorkflowExecutionOptions",
        request: encodeMessage(UpdateWorkflowExecutionOptionsRequestSchema, request),
      };
    }
    default:
      return activityRequest(operation, { namespace, execution: target });
  }
}

/** The filter of activities, in the words of the methods for one workflow. */
function activityRequest(
  operation: Operation,
  common: { readonly namespace: string; readonly execution: BatchTarget },
): BatchRequest {
  switch (operation.case) {
    case "unpauseActivitiesOperation": {
      const { $typeName: _, activity, ...rest } = operation.value;
      const request = {
        ...common,
        ...rest,
        activity: activity.case === "matchAll"
          ? { case: "unpauseAll", value: true } as const
          : activity,
      };
      return {
        method: "unpauseActivity",
        request: encodeMessage(UnpauseActivityRequestSchema, request),
      };
    }
    case "resetActivitiesOperation": {
      const { $typeName: _, resetAttempts: __, ...rest } = operation.value;
      return {
        method: "resetActivity",
        request: encodeMessage(ResetActivityRequestSchema, { ...common, ...rest }),
      };
    }
    case "updateActivityOptionsOperation": {
      const { $typeName: _, ...rest } = operation.value;
      return {
        method: "updateActivityOptions",
        request: encodeMessage(UpdateActivityOptionsRequestSchema, { ...common, ...rest }),
      };
    }
    default:
      throw invalid(`the batch operation ${operation.case} is not supported`);
  }
}
