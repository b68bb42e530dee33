// Commands of workflow code as people read them, and the event of history that each became.
import {
  CancelChildWorkflow,
  CancelExternalWorkflow,
  CancelSignalWorkflow,
  CancelWorkflowExecution,
  CommandKind,
  CompleteWorkflow,
  ContinueAsNew,
  FailWorkflow,
  ModifyWorkflowProperties,
  QueryResult,
  RecordSideEffect,
  ScheduleActivity,
  ScheduleLocalActivity,
  SetPatchMarker,
  SignalExternalWorkflow,
  StartChildWorkflow,
  StartTimer,
  UpdateResponse,
  UpsertSearchAttributes,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { RecordedCommand } from "../executor/tasks/recording.ts";
import { plain, shown, shownAll, shownDuration, shownFailureBytes } from "./values.ts";

/** One command that workflow code issued in a task. */
export interface CommandView {
  /** "StartTimer", "CancelTimer", "ScheduleActivity", "AcceptUpdate", "CompleteWorkflow", ... */
  readonly kind: string;
  /** One line for people. */
  readonly summary: string;
  /** Number of its kind in the run; 0 where a kind has none. */
  readonly seq: number;
  /** Its parts, decoded. */
  readonly attributes: { readonly [name: string]: unknown };
  /** The user's line, "function (file:line:column)"; "" where the executor issued it by itself. */
  readonly site: string;
  /**
   * The event that it became. Undefined: none, because it was taken back in the same task (a timer started and cancelled), or history
   * ends before it, or the code diverges from history.
   */
  readonly eventId: number | undefined;
}

export type Decoded = Pick<CommandView, "kind" | "summary" | "attributes"> & {
  /** What the command and its event have in common; "" where neither says a number (`command_keys.ts`). */
  readonly key: string;
};

/** Decodes a command. `updates`: names of updates by the ids that answers to them carry. */
export function decodeCommand(
  command: RecordedCommand,
  converter: PayloadConverter | undefined,
  updates?: ReadonlyMap<string, string>,
): Decoded {
  const { kind, seq, attributes, cancel } = command;
  if (cancel) return decodeCancel(kind, seq);
  const all = (payloads: Parameters<typeof shownAll>[0]) => shownAll(payloads, converter);
  const one = (payload: Parameters<typeof shown>[0]) => plain(shown(payload, converter));
  const record = (payloads: { readonly [name: string]: Parameters<typeof one>[0] }) =>
    Object.fromEntries(Object.entries(payloads).map(([name, payload]) => [name, one(payload)]));
  switch (kind) {
    case CommandKind.COMMAND_KIND_START_TIMER: {
      const { durationMs, summary } = StartTimer.decode(attributes);
      return {
        kind: "StartTimer",
        key: `timer ${seq}`,
        summary: `timer ${seq} for ${shownDuration(durationMs)}`,
        attributes: { timerId: String(seq), durationMs, ...(summary === undefined ? {} : { summary: one(summary) }) },
      };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY: {
      const { arguments: payloads, headers: _, summary, seq: __, ...options } = ScheduleActivity.decode(attributes);
      const activityId = options.activityId === "" ? String(seq) : options.activityId;
      return {
        kind: "ScheduleActivity",
        key: `activity ${activityId}`,
        summary: `activity ${options.activityType}(${shortArgs(all(payloads))})`,
        attributes: {
          ...{ activityType: options.activityType, activityId, arguments: all(payloads) },
          ...set({ ...options, activityType: "", activityId: "" }),
          ...(summary === undefined ? {} : { summary: one(summary) }),
        },
      };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY: {
      const { arguments: payloads, activityType, activityId } = ScheduleLocalActivity.decode(attributes);
      return {
        kind: "ScheduleLocalActivity",
        key: `local activity ${seq}`,
        summary: `local activity ${activityType}(${shortArgs(all(payloads))})`,
        attributes: { activityType, activityId: activityId || String(seq), arguments: all(payloads) },
      };
    }
    case CommandKind.COMMAND_KIND_SET_PATCH_MARKER: {
      const { patchId, deprecated } = SetPatchMarker.decode(attributes);
      const summary = `${deprecated ? "deprecated patch" : "patch"} "${patchId}"`;
      return { kind: "SetPatchMarker", key: `patch ${patchId}`, summary, attributes: { patchId, deprecated } };
    }
    case CommandKind.COMMAND_KIND_RECORD_SIDE_EFFECT: {
      const { id, payload } = RecordSideEffect.decode(attributes);
      const value = one(payload);
      return {
        kind: "RecordSideEffect",
        key: `side effect ${id}`,
        summary: `side effect ${id}: ${short(value)}`,
        attributes: { id, value },
      };
    }
    case CommandKind.COMMAND_KIND_UPDATE_RESPONSE: {
      const { protocolInstanceId, response } = UpdateResponse.decode(attributes);
      const base = { protocolInstanceId };
      const update = `update ${updates?.get(protocolInstanceId) ?? protocolInstanceId}`;
      if (response?.$case === "completed") {
        const result = one(response.value);
        const summary = `answers ${update} with ${short(result)}`;
        return { kind: "CompleteUpdate", key: `update end ${protocolInstanceId}`, summary, attributes: { ...base, result } };
      }
      if (response?.$case === "rejected") {
        const failure = shownFailureBytes(response.value);
        const summary = `refuses ${update}: ${failure.message}`;
        return { kind: "RejectUpdate", key: `update end ${protocolInstanceId}`, summary, attributes: { ...base, failure } };
      }
      return { kind: "AcceptUpdate", key: `update ${protocolInstanceId}`, summary: `accepts ${update}`, attributes: base };
    }
    case CommandKind.COMMAND_KIND_QUERY_RESULT: {
      const { queryId, result } = QueryResult.decode(attributes);
      const value = result?.$case === "succeeded" ? one(result.value) : undefined;
      return { kind: "AnswerQuery", key: "", summary: `answers a query with ${short(value)}`, attributes: { queryId, value } };
    }
    case CommandKind.COMMAND_KIND_COMPLETE_WORKFLOW: {
      const result = one(CompleteWorkflow.decode(attributes).result);
      const summary = `completes the workflow with ${short(result)}`;
      return { kind: "CompleteWorkflow", key: "completed", summary, attributes: { result } };
    }
    case CommandKind.COMMAND_KIND_FAIL_WORKFLOW: {
      const failure = shownFailureBytes(FailWorkflow.decode(attributes).failure);
      return { kind: "FailWorkflow", key: "failed", summary: `fails the workflow: ${failure.message}`, attributes: { failure } };
    }
    case CommandKind.COMMAND_KIND_CANCEL_WORKFLOW: {
      CancelWorkflowExecution.decode(attributes);
      return { kind: "CancelWorkflow", key: "canceled", summary: "ends the workflow as cancelled", attributes: {} };
    }
    case CommandKind.COMMAND_KIND_CONTINUE_AS_NEW: {
      const { workflowType, taskQueue, arguments: payloads } = ContinueAsNew.decode(attributes);
      const args = all(payloads);
      return {
        kind: "ContinueAsNew",
        key: "continued",
        summary: `continues as a new run with (${shortArgs(args)})`,
        attributes: { arguments: args, ...set({ workflowType, taskQueue }) },
      };
    }
    case CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW: {
      const { arguments: payloads, headers: _, memo, searchAttributes, summary, details, seq: __, priority: ___, ...options } =
        StartChildWorkflow.decode(attributes);
      const { workflowType, workflowId } = options;
      return {
        kind: "StartChildWorkflow",
        key: "",
        summary: `child workflow ${workflowType}(${shortArgs(all(payloads))})`,
        attributes: {
          ...{ workflowType, workflowId, arguments: all(payloads) },
          ...set({ ...options, workflowType: "", workflowId: "" }),
          ...(Object.keys(memo).length === 0 ? {} : { memo: record(memo) }),
          ...(Object.keys(searchAttributes).length === 0 ? {} : { searchAttributes: record(searchAttributes) }),
          ...(summary === undefined ? {} : { summary: one(summary) }),
          ...(details === undefined ? {} : { details: one(details) }),
        },
      };
    }
    case CommandKind.COMMAND_KIND_CANCEL_CHILD_WORKFLOW: {
      const { seq: child, reason } = CancelChildWorkflow.decode(attributes);
      const summary = `asks child workflow ${child} to cancel${reason === "" ? "" : `: ${reason}`}`;
      return { kind: "CancelChildWorkflow", key: "", summary, attributes: { seq: child, reason } };
    }
    case CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW: {
      const { workflowId, runId, signalName, childWorkflowOnly, arguments: payloads } = SignalExternalWorkflow.decode(attributes);
      const args = all(payloads);
      return {
        kind: "SignalExternalWorkflow",
        key: "",
        summary: `signal ${signalName}(${shortArgs(args)}) to ${childWorkflowOnly ? "child" : "workflow"} ${workflowId}`,
        attributes: { workflowId, ...set({ runId }), signalName, arguments: args },
      };
    }
    case CommandKind.COMMAND_KIND_CANCEL_SIGNAL_WORKFLOW: {
      const { seq: signal } = CancelSignalWorkflow.decode(attributes);
      return {
        kind: "CancelSignal",
        key: "",
        summary: `takes signal ${signal} back, if it has not left`,
        attributes: { seq: signal },
      };
    }
    case CommandKind.COMMAND_KIND_CANCEL_EXTERNAL_WORKFLOW: {
      const { workflowId, runId, reason } = CancelExternalWorkflow.decode(attributes);
      const summary = `asks workflow ${workflowId} to cancel${reason === "" ? "" : `: ${reason}`}`;
      return { kind: "CancelExternalWorkflow", key: "", summary, attributes: { workflowId, ...set({ runId, reason }) } };
    }
    case CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES: {
      const searchAttributes = record(UpsertSearchAttributes.decode(attributes).searchAttributes);
      const summary = `sets search attributes ${short(searchAttributes)}`;
      return { kind: "UpsertSearchAttributes", key: "", summary, attributes: { searchAttributes } };
    }
    case CommandKind.COMMAND_KIND_MODIFY_WORKFLOW_PROPERTIES: {
      const memo = record(ModifyWorkflowProperties.decode(attributes).memo);
      return { kind: "UpsertMemo", key: "", summary: `sets the memo ${short(memo)}`, attributes: { memo } };
    }
    default:
      return { kind: `Command ${kind}`, key: "", summary: "a command that this version does not know", attributes: {} };
  }
}

function decodeCancel(kind: CommandKind, seq: number): Decoded {
  switch (kind) {
    case CommandKind.COMMAND_KIND_START_TIMER: {
      const attributes = { timerId: String(seq) };
      return { kind: "CancelTimer", key: `cancel timer ${seq}`, summary: `cancels timer ${seq}`, attributes };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY: {
      const summary = `asks activity ${seq} to cancel`;
      return { kind: "CancelActivity", key: `cancel activity ${seq}`, summary, attributes: { seq } };
    }
    default:
      return { kind: "Cancel", key: "", summary: `cancels command ${seq} of kind ${kind}`, attributes: { seq } };
  }
}

/** A value on part of a line. */
export function short(value: unknown, room = 80): string {
  let text: string;
  try {
    text = value instanceof Uint8Array ? `${value.length} bytes` : JSON.stringify(value) ?? "nothing";
  } catch {
    // Nested deeper than a stack is high, or something that a converter of the caller's made.
    text = `a ${typeof value} that cannot be shown`;
  }
  return text.length > room ? `${text.slice(0, room - 1)}…` : text;
}

export const shortArgs = (args: readonly unknown[]): string => args.map((arg) => short(arg, 60)).join(", ");

/** The fields that are not at their defaults. */
function set(fields: object): { [name: string]: unknown } {
  const isSet = ([, value]: [string, unknown]) =>
    value !== undefined && value !== 0 && value !== "" && !(Array.isArray(value) && value.length === 0);
  return Object.fromEntries(Object.entries(fields).filter(isSet));
}
