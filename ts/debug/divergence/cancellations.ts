// Cancellations that differ: a step that the code cancels in the task that issued it, so that no
// command is sent, and an activity whose cancellation is not requested because of its type.
import {
  ActivityCancellationType,
  CommandKind,
  FailWorkflow,
  ScheduleActivity,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { ReplayEvidence } from "../../executor/tasks/replay.ts";
import { decodeShownFailure, type ShownFailure, toShownFailure } from "../values.ts";
import type { Pair, Place } from "./align.ts";
import { type CodeStep, readCodeTasks, type UnsentStep } from "./code_steps.ts";
import type { HistoryStep } from "./history_steps.ts";
import { isSameStep } from "./steps.ts";
import type { LikelyEdit } from "./types.ts";

/** An edit that concerns a cancellation. */
export interface CancellationEdit {
  readonly edit: LikelyEdit;
  /** The line of the cancellation, or of the canceled step. */
  readonly at: string;
  /** What the code does with the step of the history, as a verb. */
  readonly action: string;
}

/** Returns the edit of a recorded step that the code cancels before it is sent. */
export function unsentEdit(
  { task: { startedEventId }, at, pairs }: Place,
  evidence: ReplayEvidence,
): CancellationEdit | undefined {
  const { history: here } = pairs[at]!;
  if (here === undefined) return undefined;
  const unsent: UnsentStep[] = [];
  readCodeTasks(evidence, unsent);
  const own = unsent.find((one) =>
    one.startedEventId === startedEventId && isSameStep(one.step, here)
  );
  if (own === undefined) return undefined;
  const { text } = here;
  // The code waited for another step before it canceled this one.
  const between = pairs.slice(at + 1).find(isAwaitedBetween)?.history;
  return {
    edit: between === undefined
      ? {
        kind: "reordered",
        text: `the cancellation of ${text} now comes in the same task`,
        subject: text,
        confidence: "likely",
      }
      : {
        kind: "removed",
        text: `${between.text} was removed`,
        subject: between.text,
        confidence: "likely",
      },
    at: own.canceledAt || own.step.site,
    action: `cancels ${text} in the task that starts it, before it is sent`,
  };
}

const AWAITED: ReadonlySet<string> = new Set(["timer", "activity", "localActivity", "child"]);

/** Whether only history has a step that code can wait for. Equal steps may be other timers. */
const isAwaitedBetween = ({ history, code, same }: Pair): boolean =>
  history !== undefined && AWAITED.has(history.kind) &&
  (!same || history.plan.duration !== code?.plan.duration);

/** Returns the edit of an activity whose cancellation history requested and the code does not. */
export function abandonedEdit(
  here: HistoryStep | undefined,
  code: CodeStep | undefined,
  { activations }: ReplayEvidence,
): CancellationEdit | undefined {
  if (here?.kind !== "cancel" || code?.kind !== "cancel" || !isSameStep(here, code)) {
    return undefined;
  }
  const { kind, seq } = code.command;
  if (kind !== CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY) return undefined;
  const scheduled = activations.flatMap(({ commands }) => commands).find((one) =>
    one.kind === kind && one.seq === seq && !one.cancel
  );
  if (scheduled === undefined) return undefined;
  const { cancellationType } = ScheduleActivity.decode(scheduled.attributes);
  if (cancellationType !== ActivityCancellationType.ACTIVITY_CANCELLATION_TYPE_ABANDON) {
    return undefined;
  }
  return {
    edit: {
      kind: "changedInput",
      text: `the cancellation type of ${code.name} was changed to ABANDON`,
      subject: code.name,
      confidence: "likely",
    },
    at: scheduled.site,
    action: `abandons ${code.name}, and does not request its cancellation`,
  };
}

/** Describes a failure that only one side ends with; undefined if both sides end alike. */
export function endFailureText(
  here: HistoryStep | undefined,
  code: CodeStep | undefined,
): string | undefined {
  if (code?.kind !== "end" || here?.name === code.name) return undefined;
  if (code.name === "failed") {
    const { failure } = FailWorkflow.decode(code.command.attributes);
    return `the workflow now fails with ${failureText(decodeShownFailure(failure))}`;
  }
  const { attributes } = here?.event ?? {};
  return attributes?.case === "workflowExecutionFailedEventAttributes"
    ? `the workflow no longer fails with ${failureText(toShownFailure(attributes.value.failure))}`
    : undefined;
}

const failureText = ({ type, message }: ShownFailure): string =>
  [type.replace(/^[a-z](?=\w*Failure$)/, (first) => first.toUpperCase()), message]
    .filter((part) => part !== "").join(": ") || "an error";
