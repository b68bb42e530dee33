// Decodes commands for display, one decoder per kind: attributes, a one-line summary, and the key
// that it shares with its event.
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
  ScheduleNexusOperation,
  SetPatchMarker,
  SignalExternalWorkflow,
  StartChildWorkflow,
  StartTimer,
  Transact,
  UpdateResponse,
  UpsertSearchAttributes,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import { procedureOf, shownActivity } from "../converter/procedure_names.ts";
import { BROADCAST_ACTIVITY } from "../converter/subscriptions.ts";
import type { RecordedCommand } from "../executor/tasks/recording.ts";
import type { CommandNames } from "./command_names.ts";
import { formatShort, pickNonDefaults, printArgs } from "./value_text.ts";
import {
  decodeShownFailure,
  formatExactDuration,
  readPayload,
  readPayloads,
  toPlainData,
} from "./values.ts";

/** One command that workflow code issued in a task. */
export interface CommandView {
  /**
   * "StartTimer", "CancelTimer", "ScheduleActivity", "Transact", "AcceptUpdate",
   * "CompleteWorkflow", ...
   */
  readonly kind: string;
  /** One line for display. */
  readonly summary: string;
  /** Number of its kind in the run; 0 for kinds without numbers. */
  readonly seq: number;
  /** Its decoded attributes. */
  readonly attributes: { readonly [name: string]: unknown };
  /** The user's line, "function (file:line:column)"; "" if the executor issued it. */
  readonly site: string;
  /**
   * Id of its event. Undefined if it was canceled in the same task (a timer started and canceled),
   * history ends before it, or the code diverges from history.
   */
  readonly eventId: number | undefined;
  /** True if history completed the task without this command (`DebugSession.notInHistory`). */
  readonly isNotInHistory?: boolean;
}

export type Decoded = Pick<CommandView, "kind" | "summary" | "attributes"> & {
  /** Key that the command shares with its event; "" if neither has a number (`command_keys.ts`). */
  readonly key: string;
};

/** How a decoder formats the content of a command. */
export interface Shown {
  all(payloads: Parameters<typeof readPayloads>[0]): unknown[];
  one(payload: Parameters<typeof readPayload>[0]): unknown;
  record(
    payloads: { readonly [name: string]: Parameters<typeof readPayload>[0] },
  ): { [name: string]: unknown };
  /** Names from other commands. */
  readonly names: CommandNames | undefined;
}

/** Returns formatters of values by this converter. */
export function makeFormatters(
  converter: PayloadConverter | undefined,
  names: CommandNames | undefined,
): Shown {
  const one = (payload: Parameters<typeof readPayload>[0]) =>
    toPlainData(readPayload(payload, converter));
  return {
    all: (payloads) => readPayloads(payloads, converter),
    one,
    record: (payloads) =>
      Object.fromEntries(Object.entries(payloads).map(([name, payload]) => [name, one(payload)])),
    names,
  };
}

/**
 * "broadcast enemy_killed:orc("ada")": signal, filter and arguments, as a subscription is written.
 */
const broadcastText = ([signal, filter, ...args]: readonly unknown[]): string =>
  `broadcast ${String(signal)}${
    filter === null || filter === undefined ? "" : `:${String(filter)}`
  }(${printArgs(args)})`;

type Decoder = (command: RecordedCommand, shown: Shown) => Decoded;

export const DECODERS: { readonly [kind in CommandKind]?: Decoder } = {
  [CommandKind.COMMAND_KIND_START_TIMER]: ({ attributes, seq }, { one, names }) => {
    const { durationMs, summary } = StartTimer.decode(attributes);
    return {
      kind: "StartTimer",
      key: `timer ${seq}`,
      summary: `timer ${names?.timers.get(seq) ?? seq} for ${formatExactDuration(durationMs)}`,
      attributes: {
        timerId: String(seq),
        durationMs,
        ...(summary === undefined ? {} : { summary: one(summary) }),
      },
    };
  },
  [CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY]: ({ attributes, seq }, { all, one }) => {
    const { arguments: payloads, headers: _, summary, seq: __, ...options } = ScheduleActivity
      .decode(attributes);
    const activityId = options.activityId === "" ? String(seq) : options.activityId;
    return {
      kind: "ScheduleActivity",
      key: `activity ${activityId}`,
      summary: `${procedureOf(options.activityType) === undefined ? "activity " : ""}${
        shownActivity(options.activityType)
      }(${printArgs(all(payloads))})`,
      attributes: {
        ...{ activityType: options.activityType, activityId, arguments: all(payloads) },
        ...pickNonDefaults({ ...options, activityType: "", activityId: "" }),
        ...(summary === undefined ? {} : { summary: one(summary) }),
      },
    };
  },
  [CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY]: ({ attributes, seq }, { all }) => {
    const { arguments: payloads, activityType, activityId } = ScheduleLocalActivity.decode(
      attributes,
    );
    const args = all(payloads);
    return {
      kind: "ScheduleLocalActivity",
      key: `local activity ${seq}`,
      summary: activityType === BROADCAST_ACTIVITY
        ? broadcastText(args)
        : `local activity ${activityType}(${printArgs(args)})`,
      attributes: { activityType, activityId: activityId || String(seq), arguments: args },
    };
  },
  [CommandKind.COMMAND_KIND_TRANSACT]: ({ attributes, seq }, { all, names }) => {
    const { reducer, arguments: payloads, required } = Transact.decode(attributes);
    const args = all(payloads);
    const awaited = names?.awaited.has(seq) === true;
    const how = required ? ", required" : awaited ? "" : ", not awaited";
    return {
      kind: "Transact",
      key: `transact ${seq}`,
      summary: `transact ${reducer}(${printArgs(args)})${how}`,
      attributes: { reducer, arguments: args, required, awaited },
    };
  },
  [CommandKind.COMMAND_KIND_SET_PATCH_MARKER]: ({ attributes }) => {
    const { patchId, deprecated } = SetPatchMarker.decode(attributes);
    const summary = `${deprecated ? "deprecated patch" : "patch"} "${patchId}"`;
    return {
      kind: "SetPatchMarker",
      key: `patch ${patchId}`,
      summary,
      attributes: { patchId, deprecated },
    };
  },
  [CommandKind.COMMAND_KIND_RECORD_SIDE_EFFECT]: ({ attributes }, { one }) => {
    const { id, payload } = RecordSideEffect.decode(attributes);
    const value = one(payload);
    return {
      kind: "RecordSideEffect",
      key: `side effect ${id}`,
      summary: `side effect ${id}: ${formatShort(value)}`,
      attributes: { id, value },
    };
  },
  [CommandKind.COMMAND_KIND_UPDATE_RESPONSE]: ({ attributes }, { one, names }) => {
    const { protocolInstanceId, response } = UpdateResponse.decode(attributes);
    const base = { protocolInstanceId };
    const update = `update ${names?.updates.get(protocolInstanceId) ?? protocolInstanceId}`;
    if (response?.$case === "completed") {
      const result = one(response.value);
      const summary = `completes ${update} with ${formatShort(result)}`;
      return {
        kind: "CompleteUpdate",
        key: `update end ${protocolInstanceId}`,
        summary,
        attributes: { ...base, result },
      };
    }
    if (response?.$case === "rejected") {
      const failure = decodeShownFailure(response.value);
      const summary = `rejects ${update}: ${failure.message}`;
      return {
        kind: "RejectUpdate",
        key: `update end ${protocolInstanceId}`,
        summary,
        attributes: { ...base, failure },
      };
    }
    return {
      kind: "AcceptUpdate",
      key: `update ${protocolInstanceId}`,
      summary: `accepts ${update}`,
      attributes: base,
    };
  },
  [CommandKind.COMMAND_KIND_QUERY_RESULT]: ({ attributes }, { one }) => {
    const { queryId, result } = QueryResult.decode(attributes);
    const value = result?.$case === "succeeded" ? one(result.value) : undefined;
    return {
      kind: "AnswerQuery",
      key: "",
      summary: `returns query result ${formatShort(value)}`,
      attributes: { queryId, value },
    };
  },
  [CommandKind.COMMAND_KIND_COMPLETE_WORKFLOW]: ({ attributes }, { one }) => {
    const result = one(CompleteWorkflow.decode(attributes).result);
    const summary = `completes the workflow with ${formatShort(result)}`;
    return { kind: "CompleteWorkflow", key: "completed", summary, attributes: { result } };
  },
  [CommandKind.COMMAND_KIND_FAIL_WORKFLOW]: ({ attributes }) => {
    const failure = decodeShownFailure(FailWorkflow.decode(attributes).failure);
    return {
      kind: "FailWorkflow",
      key: "failed",
      summary: `fails the workflow: ${failure.message}`,
      attributes: { failure },
    };
  },
  [CommandKind.COMMAND_KIND_CANCEL_WORKFLOW]: ({ attributes }) => {
    CancelWorkflowExecution.decode(attributes);
    return {
      kind: "CancelWorkflow",
      key: "canceled",
      summary: "ends the workflow as canceled",
      attributes: {},
    };
  },
  [CommandKind.COMMAND_KIND_CONTINUE_AS_NEW]: ({ attributes }, { all }) => {
    const { workflowType, taskQueue, arguments: payloads } = ContinueAsNew.decode(attributes);
    const args = all(payloads);
    return {
      kind: "ContinueAsNew",
      key: "continued",
      summary: `continues as a new run with (${printArgs(args)})`,
      attributes: { arguments: args, ...pickNonDefaults({ workflowType, taskQueue }) },
    };
  },
  [CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW]: ({ attributes }, { all, one, record }) => {
    const {
      arguments: payloads,
      headers: _,
      memo,
      searchAttributes,
      summary,
      details,
      seq: __,
      priority: ___,
      ...options
    } = StartChildWorkflow.decode(attributes);
    const { workflowType, workflowId } = options;
    return {
      kind: "StartChildWorkflow",
      key: "",
      summary: `child workflow ${workflowType}(${printArgs(all(payloads))})`,
      attributes: {
        ...{ workflowType, workflowId, arguments: all(payloads) },
        ...pickNonDefaults({ ...options, workflowType: "", workflowId: "" }),
        ...(Object.keys(memo).length === 0 ? {} : { memo: record(memo) }),
        ...(Object.keys(searchAttributes).length === 0
          ? {}
          : { searchAttributes: record(searchAttributes) }),
        ...(summary === undefined ? {} : { summary: one(summary) }),
        ...(details === undefined ? {} : { details: one(details) }),
      },
    };
  },
  [CommandKind.COMMAND_KIND_CANCEL_CHILD_WORKFLOW]: ({ attributes }) => {
    const { seq: child, reason } = CancelChildWorkflow.decode(attributes);
    const summary = `asks child workflow ${child} to cancel${reason === "" ? "" : `: ${reason}`}`;
    return { kind: "CancelChildWorkflow", key: "", summary, attributes: { seq: child, reason } };
  },
  [CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION]: ({ attributes }, { one }) => {
    const { input, nexusHeader, summary, seq: _, ...options } = ScheduleNexusOperation.decode(
      attributes,
    );
    const { endpoint, service, operation } = options;
    const value = one(input);
    return {
      kind: "ScheduleNexusOperation",
      key: "",
      summary: `Nexus operation ${service}.${operation}(${
        value === undefined ? "" : formatShort(value)
      })`,
      attributes: {
        ...{ endpoint, service, operation, input: value },
        ...pickNonDefaults({ ...options, endpoint: "", service: "", operation: "" }),
        ...(Object.keys(nexusHeader).length === 0 ? {} : { nexusHeader }),
        ...(summary === undefined ? {} : { summary: one(summary) }),
      },
    };
  },
  [CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW]: ({ attributes }, { all }) => {
    const { workflowId, runId, signalName, childWorkflowOnly, arguments: payloads } =
      SignalExternalWorkflow.decode(attributes);
    const args = all(payloads);
    return {
      kind: "SignalExternalWorkflow",
      key: "",
      summary: `signal ${signalName}(${printArgs(args)}) to ${
        childWorkflowOnly ? "child" : "workflow"
      } ${workflowId}`,
      attributes: { workflowId, ...pickNonDefaults({ runId }), signalName, arguments: args },
    };
  },
  [CommandKind.COMMAND_KIND_CANCEL_SIGNAL_WORKFLOW]: ({ attributes }) => {
    const { seq: signal } = CancelSignalWorkflow.decode(attributes);
    return {
      kind: "CancelSignal",
      key: "",
      summary: `cancels signal ${signal} unless it was sent`,
      attributes: { seq: signal },
    };
  },
  [CommandKind.COMMAND_KIND_CANCEL_EXTERNAL_WORKFLOW]: ({ attributes }) => {
    const { workflowId, runId, reason } = CancelExternalWorkflow.decode(attributes);
    const summary = `asks workflow ${workflowId} to cancel${reason === "" ? "" : `: ${reason}`}`;
    return {
      kind: "CancelExternalWorkflow",
      key: "",
      summary,
      attributes: { workflowId, ...pickNonDefaults({ runId, reason }) },
    };
  },
  [CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES]: (command, { record, names }) => {
    const searchAttributes = record(
      UpsertSearchAttributes.decode(command.attributes).searchAttributes,
    );
    const summary = names?.subscriptions.get(command) ??
      `sets search attributes ${formatShort(searchAttributes)}`;
    return { kind: "UpsertSearchAttributes", key: "", summary, attributes: { searchAttributes } };
  },
  [CommandKind.COMMAND_KIND_MODIFY_WORKFLOW_PROPERTIES]: ({ attributes }, { record }) => {
    const memo = record(ModifyWorkflowProperties.decode(attributes).memo);
    return {
      kind: "UpsertMemo",
      key: "",
      summary: `sets the memo ${formatShort(memo)}`,
      attributes: { memo },
    };
  },
};
