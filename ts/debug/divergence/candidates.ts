// Code edits that could explain a first difference. Each has the history that the edited code would
// have recorded.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { decodeHistoryBytes } from "../../history_files/decode_events.ts";
import type { Place, Sides } from "./align.ts";
import type { CodeStep } from "./code_steps.ts";
import { EditedHistory } from "./edited_history.ts";
import type { HistoryStep } from "./history_steps.ts";
import { makeNewStep } from "./new_step.ts";
import { isSameStep } from "./steps.ts";
import type { EditKind } from "./types.ts";

/** A possible edit of the code. */
export interface Candidate {
  readonly kind: EditKind;
  /** The steps that the edit is about, for its description. */
  readonly code: CodeStep | undefined;
  readonly history: HistoryStep | undefined;
  /**
   * Returns the history that the edited code would have recorded; undefined if it cannot be built.
   */
  readonly edited: () => ReturnType<EditedHistory["encode"]> | undefined;
}

/** How many tasks ahead to search for a step that was moved. */
const MOVED_OVER = 6;

/**
 * Returns the candidates, the most plausible first for equal results. An added step comes before a
 * replaced one: in an open run the recorded step may follow later in the code, and a repair that
 * keeps that step as the old behavior would run it twice.
 */
export function listCandidates(
  events: readonly HistoryEvent[],
  place: Place,
  sides: Sides,
): Candidate[] {
  const { history: here, code } = place.pairs[place.at]!;
  const changed = describePlace(place, sides);
  const candidates: Candidate[] = [];
  const add = (
    kind: EditKind,
    about: Pick<Candidate, "code" | "history">,
    edit: (edited: EditedHistory) => boolean,
  ) => {
    candidates.push({
      kind,
      ...about,
      edited: () => {
        const edited = new EditedHistory(events);
        return edit(edited) ? edited.encode() : undefined;
      },
    });
  };
  const queue = readTaskQueue(events);
  const made = (step: CodeStep) =>
    makeNewStep(step.command, events[(here?.eventId ?? place.task.completedEventId) - 1]!, queue);
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
      const resolving = edited.remove(later.eventId);
      edited.insert(step, changed, resolving);
      return true;
    });
  }
  if (
    here !== undefined && isSubstantive && here.kind !== code.kind && here.kind !== "end" &&
    here.kind !== "update"
  ) {
    add("changedKind", { history: here, code }, (edited) => {
      const step = made(code);
      if (step === undefined) return false;
      if (edited.replace(here.eventId, step)) return true;
      edited.insert(step, changed, undefined);
      edited.remove(here.eventId);
      return true;
    });
  }
  return candidates;
}

/**
 * Returns where a step of the code belongs in the history, and the events of its task that the code
 * also has.
 */
function describePlace({ task, at, pairs }: Place, { history }: Sides) {
  const next = pairs.slice(at).find((pair) => pair.history !== undefined)?.history;
  const staying = new Set(
    pairs.slice(at).filter(({ same, history }) => same && history !== undefined).map((
      { history },
    ) => history!.eventId),
  );
  return {
    beforeId: next?.eventId ?? 0,
    completedId: history.find(({ task: n }) => n === task.task)!.completedEventId,
    staying,
  };
}

/** Returns the later step of history that matches the code's current step. */
function movedFrom(
  code: CodeStep,
  { task, at, pairs }: Place,
  { history }: Sides,
): HistoryStep | undefined {
  const behind = new Set(pairs.slice(0, at + 1).map((pair) => pair.history));
  const ahead = history.slice(task.task - 1, task.task + MOVED_OVER).flatMap(({ steps }) => steps);
  const taken = new Set(pairs.filter(({ same }) => same).map((pair) => pair.history));
  return ahead.find((step) => !behind.has(step) && !taken.has(step) && isSameStep(step, code));
}

function readTaskQueue(events: readonly HistoryEvent[]): string {
  const { attributes } = events[0]!;
  return attributes.case === "workflowExecutionStartedEventAttributes"
    ? attributes.value.taskQueue?.name ?? ""
    : "";
}

export const decodeEventList = (history: Uint8Array): HistoryEvent[] =>
  decodeHistoryBytes(history).events;
