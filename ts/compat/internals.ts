// Jobs and commands of an activation for interceptors of internals, with the official core's names.
// Built only if an interceptor exists. Commands have been sent already, so they cannot be changed.
import * as boundary from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type {
  Activation,
  Job,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { callThrough, type InterceptedRun } from "./interception.ts";
import type { IssuedCommand, IssuedCommands } from "./issued_commands.ts";
import type { ActivateInput, ConcludeActivationInput } from "./workflow/interceptors.ts";

const { CommandKind } = boundary;

interface ShowingRun extends InterceptedRun {
  readonly info: { readonly runId: string };
  readonly issued: IssuedCommands;
}

/** Job names that differ from the official core's. */
const JOB_NAMES: { readonly [name: string]: string } = {
  resolveChildWorkflowStart: "resolveChildWorkflowExecutionStart",
  resolveChildWorkflow: "resolveChildWorkflowExecution",
  resolveCancelExternalWorkflow: "resolveRequestCancelExternalWorkflow",
};

/** Returns an activation with these jobs. */
export function shownActivation(
  run: ShowingRun,
  activation: Activation,
  jobs: readonly Job[],
  batchIndex: number,
): ActivateInput {
  const { timeMs, isReplaying, historyLength } = activation;
  const seconds = Math.floor(timeMs / 1000);
  return {
    activation: {
      runId: run.info.runId,
      timestamp: { seconds, nanos: Math.round((timeMs - seconds * 1000) * 1e6) },
      isReplaying,
      historyLength,
      jobs: jobs.flatMap(({ variant }) => {
        if (variant === undefined) return [];
        const name = JOB_NAMES[variant.$case] ?? variant.$case;
        return [{ variant: name, [name]: variant.value }];
      }),
    },
    batchIndex,
  };
}

interface Decoder {
  decode(bytes: Uint8Array): unknown;
}

/** By kind: name of the official core's command, and the decoder of its attributes. */
const COMMANDS: { readonly [kind: number]: readonly [name: string, decoder: Decoder] } = {
  [CommandKind.COMMAND_KIND_START_TIMER]: ["startTimer", boundary.StartTimer],
  [CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY]: ["scheduleActivity", boundary.ScheduleActivity],
  [CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY]: [
    "scheduleLocalActivity",
    boundary.ScheduleLocalActivity,
  ],
  [CommandKind.COMMAND_KIND_SET_PATCH_MARKER]: ["setPatchMarker", boundary.SetPatchMarker],
  [CommandKind.COMMAND_KIND_UPDATE_RESPONSE]: ["updateResponse", boundary.UpdateResponse],
  [CommandKind.COMMAND_KIND_QUERY_RESULT]: ["respondToQuery", boundary.QueryResult],
  [CommandKind.COMMAND_KIND_COMPLETE_WORKFLOW]: [
    "completeWorkflowExecution",
    boundary.CompleteWorkflow,
  ],
  [CommandKind.COMMAND_KIND_FAIL_WORKFLOW]: ["failWorkflowExecution", boundary.FailWorkflow],
  [CommandKind.COMMAND_KIND_CANCEL_WORKFLOW]: [
    "cancelWorkflowExecution",
    boundary.CancelWorkflowExecution,
  ],
  [CommandKind.COMMAND_KIND_CONTINUE_AS_NEW]: [
    "continueAsNewWorkflowExecution",
    boundary.ContinueAsNew,
  ],
  [CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW]: [
    "startChildWorkflowExecution",
    boundary.StartChildWorkflow,
  ],
  [CommandKind.COMMAND_KIND_CANCEL_CHILD_WORKFLOW]: [
    "cancelChildWorkflowExecution",
    boundary.CancelChildWorkflow,
  ],
  [CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION]: [
    "scheduleNexusOperation",
    boundary.ScheduleNexusOperation,
  ],
  [CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW]: [
    "signalExternalWorkflowExecution",
    boundary.SignalExternalWorkflow,
  ],
  [CommandKind.COMMAND_KIND_CANCEL_SIGNAL_WORKFLOW]: [
    "cancelSignalWorkflow",
    boundary.CancelSignalWorkflow,
  ],
  [CommandKind.COMMAND_KIND_CANCEL_EXTERNAL_WORKFLOW]: [
    "requestCancelExternalWorkflowExecution",
    boundary.CancelExternalWorkflow,
  ],
  [CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES]: [
    "upsertWorkflowSearchAttributes",
    boundary.UpsertSearchAttributes,
  ],
  [CommandKind.COMMAND_KIND_MODIFY_WORKFLOW_PROPERTIES]: [
    "modifyWorkflowProperties",
    boundary.ModifyWorkflowProperties,
  ],
};

const CANCELS: { readonly [kind: number]: string } = {
  [CommandKind.COMMAND_KIND_START_TIMER]: "cancelTimer",
  [CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY]: "requestCancelActivity",
  [CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY]: "requestCancelLocalActivity",
  [CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION]: "requestCancelNexusOperation",
};

function describeIssuedCommand(
  { kind, attributes, cancels, groups }: IssuedCommand,
): { readonly [command: string]: unknown } {
  const markers = groups &&
    { eventGroupMarkers: boundary.EventGroups.decode(groups).eventGroupMarkers.map(shownMarker) };
  if (cancels !== undefined) return { [CANCELS[kind] ?? "cancel"]: { seq: cancels }, ...markers };
  const [name, decoder] = COMMANDS[kind]!;
  return { [name]: decoder.decode(attributes!), ...markers };
}

function shownMarker({ variant }: boundary.EventGroupMarker): object {
  return variant === undefined ? {} : { [variant.$case]: variant.value };
}

/** Passes the commands of an activation to the interceptors. Throws if one returns others. */
export function concludeActivation(run: ShowingRun): void {
  const { issued } = run;
  if (!issued.concluded) return;
  const commands = issued.takeSent().map(describeIssuedCommand);
  const before = JSON.stringify(commands, bytesAsText);
  const conclude = callThrough(
    run,
    "internals",
    "concludeActivation",
    (input: ConcludeActivationInput) => input,
  );
  const after = conclude({ commands })?.commands;
  if (JSON.stringify(after, bytesAsText) === before) return;
  throw new TypeError(
    "an interceptor changed the commands in concludeActivation(), which is not supported here; " +
      "change the calls in an outbound interceptor (scheduleActivity, startTimer, ...) instead",
  );
}

function bytesAsText(_: string, value: unknown): unknown {
  return value instanceof Uint8Array
    ? [...value].join()
    : typeof value === "bigint"
    ? String(value)
    : value;
}
