// The code's side: the commands that a replay recorded, by workflow task. Commands that were
// canceled in the task that issued them leave no event and are omitted, as are commands that may or
// may not cause an event.
import {
  CancelChildWorkflow,
  CancelExternalWorkflow,
  CommandKind,
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
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { RecordedCommand } from "../../executor/tasks/recording.ts";
import type { ReplayEvidence } from "../../executor/tasks/replay.ts";
import { formatExactDuration } from "../values.ts";
import { type KnownStep, makeStep, type StepPlan } from "./steps.ts";

/** A step with its command. */
export interface CodeStep extends KnownStep {
  readonly command: RecordedCommand;
  /** The step is valid without an event. */
  readonly lenient: boolean;
}

/** A step that the code canceled in the task that issued it: neither command is sent. */
export interface UnsentStep {
  readonly step: CodeStep;
  readonly startedEventId: number;
  /** The user frame of the cancellation; "" if unknown. */
  readonly canceledAt: string;
}

/**
 * Returns the code's steps in order, by the ID of the started event of each task that the code ran
 * for. `unsent`: gets the steps that were canceled in their own task.
 */
export function readCodeTasks(
  { activations, jobs }: Pick<ReplayEvidence, "activations" | "jobs">,
  unsent: UnsentStep[] = [],
): Map<number, CodeStep[]> {
  const tasks = new Map<number, CodeStep[]>();
  const names = new Map(
    jobs.flat().map(({ protocolInstanceId = "", name = "" }) => [protocolInstanceId, name]),
  );
  const subjects = new Map<string, string>();
  for (const { startedEventId, queryOnly, commands } of activations) {
    if (queryOnly) continue;
    let steps = tasks.get(startedEventId);
    if (steps === undefined) tasks.set(startedEventId, steps = []);
    for (const command of commands) {
      const back = takeBack(command, steps);
      if (back !== undefined) {
        unsent.push({ step: back, startedEventId, canceledAt: command.site });
        continue;
      }
      // Commands after the end of a workflow are not sent.
      if (steps.some(({ kind }) => kind === "end")) continue;
      const plan = planStep(command, names, subjects);
      if (plan === undefined) continue;
      steps.push({
        ...makeStep(plan, 0, command.site),
        command,
        lenient: plan.kind === "patch" || isLenientCancel(command),
      });
    }
  }
  return tasks;
}

const isLenientCancel = ({ cancel, kind }: RecordedCommand) =>
  cancel && kind !== CommandKind.COMMAND_KIND_START_TIMER;

const startOf: { readonly [kind in CommandKind]?: CommandKind } = {
  [CommandKind.COMMAND_KIND_CANCEL_CHILD_WORKFLOW]: CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW,
  [CommandKind.COMMAND_KIND_CANCEL_SIGNAL_WORKFLOW]:
    CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW,
};

/** If the command cancels a step of the same task, removes that step and returns it. */
function takeBack(
  { kind, seq, cancel, attributes }: RecordedCommand,
  steps: CodeStep[],
): CodeStep | undefined {
  const start = cancel ? kind : startOf[kind];
  if (start === undefined) return undefined;
  const of = cancel ? seq : CancelChildWorkflow.decode(attributes).seq;
  const at = steps.findIndex(({ command }) =>
    !command.cancel && command.kind === start && command.seq === of
  );
  return at < 0 ? undefined : steps.splice(at, 1)[0];
}

function planStep(
  command: RecordedCommand,
  updates: ReadonlyMap<string, string>,
  subjects: Map<string, string>,
): StepPlan | undefined {
  const { kind, seq, attributes, cancel } = command;
  if (cancel) return planCancel(kind, seq, subjects);
  switch (kind) {
    case CommandKind.COMMAND_KIND_START_TIMER: {
      const duration = formatExactDuration(StartTimer.decode(attributes).durationMs);
      subjects.set(`timer ${seq}`, `a timer of ${duration}`);
      return { kind: "timer", name: "", id: String(seq), duration };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY: {
      const { activityType, activityId } = ScheduleActivity.decode(attributes);
      subjects.set(`activity ${seq}`, activityType);
      return { kind: "activity", name: activityType, id: activityId || String(seq) };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY:
      return {
        kind: "localActivity",
        name: ScheduleLocalActivity.decode(attributes).activityType,
        id: String(seq),
      };
    case CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW: {
      const { workflowType, workflowId } = StartChildWorkflow.decode(attributes);
      subjects.set(`child ${seq}`, workflowId);
      return { kind: "child", name: workflowType, id: workflowId };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION: {
      const { endpoint, service, operation } = ScheduleNexusOperation.decode(attributes);
      const name = `${service}.${operation}`;
      subjects.set(`nexus ${seq}`, name);
      return { kind: "nexus", name, id: "", target: endpoint };
    }
    case CommandKind.COMMAND_KIND_CANCEL_CHILD_WORKFLOW:
      return {
        kind: "cancel",
        name: `workflow ${
          subjects.get(`child ${CancelChildWorkflow.decode(attributes).seq}`) ?? ""
        }`,
        id: "",
      };
    case CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW: {
      const { signalName, workflowId } = SignalExternalWorkflow.decode(attributes);
      return { kind: "signal", name: signalName, id: "", target: workflowId };
    }
    case CommandKind.COMMAND_KIND_CANCEL_EXTERNAL_WORKFLOW:
      return {
        kind: "cancel",
        name: `workflow ${CancelExternalWorkflow.decode(attributes).workflowId}`,
        id: "",
      };
    case CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES:
      return { kind: "searchAttributes", name: "", id: "" };
    case CommandKind.COMMAND_KIND_MODIFY_WORKFLOW_PROPERTIES:
      return { kind: "memo", name: "", id: "" };
    case CommandKind.COMMAND_KIND_SET_PATCH_MARKER: {
      const { patchId, deprecated } = SetPatchMarker.decode(attributes);
      return { kind: "patch", name: patchId, id: "", deprecated };
    }
    case CommandKind.COMMAND_KIND_RECORD_SIDE_EFFECT:
      return { kind: "sideEffect", name: "", id: String(RecordSideEffect.decode(attributes).id) };
    case CommandKind.COMMAND_KIND_TRANSACT:
      return { kind: "transact", name: Transact.decode(attributes).reducer, id: "" };
    case CommandKind.COMMAND_KIND_UPDATE_RESPONSE: {
      const { protocolInstanceId: id, response } = UpdateResponse.decode(attributes);
      const answer = response?.$case === "completed"
        ? "complete"
        : response?.$case === "rejected"
        ? "reject"
        : "accept";
      return { kind: "update", name: updates.get(id) ?? id, id, answer };
    }
    case CommandKind.COMMAND_KIND_COMPLETE_WORKFLOW:
      return { kind: "end", name: "completed", id: "" };
    case CommandKind.COMMAND_KIND_FAIL_WORKFLOW:
      return { kind: "end", name: "failed", id: "" };
    case CommandKind.COMMAND_KIND_CANCEL_WORKFLOW:
      return { kind: "end", name: "cancelled", id: "" };
    case CommandKind.COMMAND_KIND_CONTINUE_AS_NEW:
      return { kind: "end", name: "continuedAsNew", id: "" };
    default:
      return undefined;
  }
}

/** Commands that cancel an earlier command by its sequence number. */
function planCancel(
  kind: CommandKind,
  seq: number,
  subjects: ReadonlyMap<string, string>,
): StepPlan | undefined {
  switch (kind) {
    case CommandKind.COMMAND_KIND_START_TIMER: {
      const target = subjects.get(`timer ${seq}`);
      const name = `timer ${seq}`;
      return { kind: "cancel", name, id: "", ...(target !== undefined && { target }) };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION:
      return {
        kind: "cancel",
        name: `Nexus operation ${subjects.get(`nexus ${seq}`) ?? ""}`,
        id: "",
      };
    case CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY:
      return { kind: "cancel", name: `activity ${subjects.get(`activity ${seq}`) ?? ""}`, id: "" };
    default:
      return undefined;
  }
}
