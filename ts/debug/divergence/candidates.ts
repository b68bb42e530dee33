// Edits of the code that would look like a first difference, each as the history that the edited code would have made.
import type { HistoryEvent } from "../../api/generated/temporal/api/history/v1/message_pb.ts";
import { decodeHistoryBytes } from "../../history_files/decode_events.ts";
import type { Place, Sides } from "./align.ts";
import type { CodeStep } from "./code_steps.ts";
import { EditedHistory } from "./edited_history.ts";
import type { HistoryStep } from "./history_steps.ts";
import { newStep } from "./new_step.ts";
import { isSameStep } from "./steps.ts";
import type { EditKind } from "./types.ts";

/** An edit that may have been made. */
export interface Candidate {
  readonly kind: EditKind;
  /** The steps that it is about, for words. */
  readonly code: CodeStep | undefined;
  readonly history: HistoryStep | undefined;
  /** The history that the edited code would have made; undefined where it cannot be made. */
  readonly edited: () => ReturnType<EditedHistory["encode"]> | undefined;
}

/** How many tasks on a step is looked for that was moved. */
const MOVED_OVER = 6;

/**
 * In the order in which they are believed when several explain as much. An added step comes before a replaced one: in an open run the
 * recorded step may follow later in the code, and a repair that keeps it as the old way would run it twice.
 */
export function candidatesOf(events: readonly HistoryEvent[], place: Place, sides: Sides): Candidate[] {
  const { history: here, code } = place.pairs[place.at]!;
  const changed = placeOf(place, sides);
  const candidates: Candidate[] = [];
  const add = (kind: EditKind, about: Pick<Candidate, "code" | "history">, edit: (edited: EditedHistory) => boolean) => {
    candidates.push({
      kind,
      ...about,
      edited: () => {
        const edited = new EditedHistory(events);
        return edit(edited) ? edited.encode() : undefined;
      },
    });
  };
  const queue = queueOf(events);
  const made = (step: CodeStep) => newStep(step.command, events[(here?.eventId ?? place.task.completedEventId) - 1]!, queue);
  const isSubstantive = code !== undefined && code.kind !== "end" && code.kind !== "update";
  if (isSubstantive) {
    add("inserted", { history: here, code }, (edited) => {
      const step = made(code);
      if (step !== undefined) edited.insert(step, changed, undefined);
      return step !== undefined;
    });
  }
  if (here !== undefined && isSubstantive && here.kind === code.kind) {
    add("renamed", { history: here, code }, (edited) => {
      const step = made(code);
      if (step !== undefined) edited.rename(here.eventId, step);
      return step !== undefined;
    });
  }
  if (here !== undefined && here.kind !== "end" && here.kind !== "update") {
    add("removed", { history: here, code }, (edited) => {
      edited.remove(here.eventId);
      return true;
    });
  }
  const later = isSubstantive ? movedFrom(code, place, sides) : undefined;
  if (isSubstantive && later !== undefined) {
    add("reordered", { history: later, code }, (edited) => {
      const step = made(code);
      if (step === undefined) return false;
      const answers = edited.remove(later.eventId);
      edited.insert(step, changed, answers);
      return true;
    });
  }
  if (here !== undefined && isSubstantive && here.kind !== code.kind && here.kind !== "end" && here.kind !== "update") {
    add("changedKind", { history: here, code }, (edited) => {
      const step = made(code);
      if (step === undefined) return false;
      edited.insert(step, changed, undefined);
      edited.remove(here.eventId);
      return true;
    });
  }
  return candidates;
}

/** Where a step of the code goes into the history, and what of its task the code has beside it. */
function placeOf({ task, at, pairs }: Place, { history }: Sides) {
  const next = pairs.slice(at).find((pair) => pair.history !== undefined)?.history;
  const staying = new Set(
    pairs.slice(at).filter(({ same, history }) => same && history !== undefined).map(({ history }) => history!.eventId),
  );
  return { beforeId: next?.eventId ?? 0, completedId: history.find(({ task: n }) => n === task.task)!.completedEventId, staying };
}

/** The step of history, further on, that the code has now. */
function movedFrom(code: CodeStep, { task, at, pairs }: Place, { history }: Sides): HistoryStep | undefined {
  const behind = new Set(pairs.slice(0, at + 1).map((pair) => pair.history));
  const ahead = history.slice(task.task - 1, task.task + MOVED_OVER).flatMap(({ steps }) => steps);
  const taken = new Set(pairs.filter(({ same }) => same).map((pair) => pair.history));
  return ahead.find((step) => !behind.has(step) && !taken.has(step) && isSameStep(step, code));
}

function queueOf(events: readonly HistoryEvent[]): string {
  const { attributes } = events[0]!;
  return attributes.case === "workflowExecutionStartedEventAttributes" ? attributes.value.taskQueue?.name ?? "" : "";
}

export const eventsOf = (history: Uint8Array): HistoryEvent[] => decodeHistoryBytes(history).events;
