// The fields in which a command and an event differ that stand beside each other, in words. Some of them the replay compares, others may
// change while runs are open: both are shown, with which it is.
import {
  CommandKind,
  ScheduleActivity,
  ScheduleNexusOperation,
  SignalExternalWorkflow,
  StartChildWorkflow,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Payload } from "../../converter/payload.ts";
import { short } from "../value_text.ts";
import { shownAll } from "../values.ts";
import type { CodeStep } from "./code_steps.ts";
import type { HistoryStep } from "./history_steps.ts";
import type { FieldDifference, StepKind } from "./types.ts";

const NAMES: { readonly [kind in StepKind]?: string } = {
  activity: "activity type",
  localActivity: "activity type",
  child: "workflow type",
  nexus: "operation",
  signal: "signal",
  patch: "patch",
  transact: "reducer",
  update: "update",
  cancel: "what is cancelled",
  end: "how it ends",
};
const IDS: { readonly [kind in StepKind]?: string } = { activity: "activity id", child: "workflow id", sideEffect: "number" };

/** The replay takes one for another of its kind. */
const UNCOMPARED: ReadonlySet<StepKind> = new Set(["signal", "nexus"]);

/** "" are left out. */
export function differencesOf(history: HistoryStep, code: CodeStep): FieldDifference[] {
  const differences: FieldDifference[] = [];
  const add = (field: string | undefined, ofHistory: string, ofCode: string, counts: boolean) => {
    if (field !== undefined && ofHistory !== ofCode) differences.push({ field, history: ofHistory, code: ofCode, counts });
  };
  if (history.kind !== code.kind) {
    add("step", history.text, code.text, true);
    return differences;
  }
  const { kind } = history;
  add(NAMES[kind], history.name, code.name, !UNCOMPARED.has(kind));
  add(IDS[kind], history.plan.id, code.plan.id, true);
  add("duration", history.plan.duration ?? "", code.plan.duration ?? "", false);
  add(kind === "nexus" ? "endpoint" : "to workflow", history.plan.target ?? "", code.plan.target ?? "", false);
  const [recorded, issued] = [inputOf(history), argumentsOf(code)];
  if (recorded !== undefined && issued !== undefined && !samePayloads(recorded, issued)) {
    add("input", short(shownAll(recorded)), short(shownAll(issued)), false);
  }
  return differences;
}

function inputOf({ event: { attributes } }: HistoryStep): readonly Payload[] | undefined {
  switch (attributes.case) {
    case "activityTaskScheduledEventAttributes":
    case "startChildWorkflowExecutionInitiatedEventAttributes":
    case "signalExternalWorkflowExecutionInitiatedEventAttributes":
      return attributes.value.input?.payloads ?? [];
    case "nexusOperationScheduledEventAttributes":
      return attributes.value.input === undefined ? [] : [attributes.value.input];
    default:
      return undefined;
  }
}

function argumentsOf({ command: { kind, attributes } }: CodeStep): readonly Payload[] | undefined {
  switch (kind) {
    case CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY:
      return ScheduleActivity.decode(attributes).arguments;
    case CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW:
      return StartChildWorkflow.decode(attributes).arguments;
    case CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION: {
      const { input } = ScheduleNexusOperation.decode(attributes);
      return input === undefined ? [] : [input];
    }
    case CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW:
      return SignalExternalWorkflow.decode(attributes).arguments;
    default:
      return undefined;
  }
}

const samePayloads = (a: readonly Payload[], b: readonly Payload[]): boolean =>
  a.length === b.length &&
  a.every(({ data }, i) => data.length === b[i]!.data.length && data.every((byte, j) => byte === b[i]!.data[j]));
