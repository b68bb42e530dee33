// Values that differ between the current code and the history in fields that the replay does not
// compare: timer durations, activity arguments, timeouts. The history still replays.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { RecordedActivation } from "../../executor/tasks/recording.ts";
import type { ReplayTrace } from "../../executor/tasks/replay_trace.ts";
import type { PayloadConverter } from "../../converter/payload.ts";
import { pairSteps } from "./align.ts";
import { type CodeStep, readCodeTasks } from "./code_steps.ts";
import { type ComparedValues, compareFields, readInheritedValues } from "./differences.ts";
import { readHistoryTasks } from "./history_steps.ts";
import type { ChangedValue, FieldDifference } from "./types.ts";

interface Replayed {
  readonly compared?: ComparedValues;
  readonly events: readonly HistoryEvent[];
  readonly activations: readonly RecordedActivation[];
  readonly jobs: ReplayTrace["jobs"];
  readonly converter: PayloadConverter | undefined;
  /** Only events with a lower ID are compared. */
  readonly before: number;
}

/** A changed value with the code's step. */
export interface ChangedStep {
  readonly value: ChangedValue;
  readonly code: CodeStep;
}

/** Compares the steps of a replay that passed, or those before its first difference. */
export const findChangedValues = (replayed: Replayed): ChangedValue[] =>
  findChangedSteps(replayed).map(({ value }) => value);

/** Does the same, with the steps of the code. */
export function findChangedSteps(
  { events, activations, jobs, converter, before, compared }: Replayed,
): ChangedStep[] {
  const ofRun = readInheritedValues(events[0], converter);
  const run = compared === undefined ? ofRun : { ...ofRun, compared };
  const code = readCodeTasks({ activations, jobs });
  const found: ChangedStep[] = [];
  for (const { steps, startedEventId, completedEventId } of readHistoryTasks(events)) {
    const own = code.get(startedEventId);
    if (completedEventId >= before) break;
    if (own === undefined) continue;
    // Markers of local activities have no arguments and are recorded where the results arrived.
    const isCompared = ({ kind }: { readonly kind: string }) => kind !== "localActivity";
    for (const { history, code } of pairSteps(steps.filter(isCompared), own.filter(isCompared))) {
      if (history === undefined || code?.kind !== history.kind || history.eventId >= before) {
        continue;
      }
      if (history.kind === "update" && code.plan.id !== history.plan.id) continue;
      const differences = compareFields(history, code, run).filter(({ counts }) => !counts);
      if (differences.length === 0) continue;
      const { eventId, text: step } = history;
      const sentence = formatDifferences(differences);
      const { site } = code;
      found.push({ value: { eventId, startedEventId, step, site, differences, sentence }, code });
    }
  }
  return found;
}

/** Maximum number of fields in a sentence. */
const MOST = 3;

function formatDifferences(differences: readonly FieldDifference[]): string {
  const [first] = differences;
  if (first!.field === "duration") {
    return `The duration in the code is ${first!.code}; in history it is ${first!.history}.`;
  }
  const some = differences.slice(0, MOST);
  const more = differences.length - some.length;
  const list = (texts: readonly string[]) =>
    [...texts, ...(more === 0 ? [] : [`${more} more`])].join(", ");
  const now = list(some.map(({ field, code }) => `${field} ${code}`));
  return `The code now has ${now}; the history has ${
    some.map(({ history }) => history).join(", ")
  }.`;
}
