// Explains why a replay failed: the first difference between code and history, both sides of it,
// the likely edit and a repair. The result is plain data; its summary sentence comes first.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import type { ReplayError, ReplayEvidence, ReplayVerdict } from "../../executor/tasks/replay.ts";
import { EXTRA_COMMAND, isThrownByCode } from "../verdict_kinds.ts";
import { type Pair, type Place, Sides } from "./align.ts";
import { decodeEventList } from "./candidates.ts";
import { readCodeTasks } from "./code_steps.ts";
import { compareFields, type OfRun, readInheritedValues } from "./differences.ts";
import { type HistoryTask, readHistoryTasks } from "./history_steps.ts";
import { findLikelyEdit, type Found, guessEdit, type Replay } from "./likely.ts";
import {
  findCaughtMistake,
  findStuckAwait,
  GONE,
  readPath,
  refineByPath,
  type TaskLines,
} from "./path.ts";
import { suggestRepair } from "./repair.ts";
import { nameCaughtMistake, nameEdit, summarizeDivergence } from "./sentences.ts";
import type { Divergence, Repair, SharedDivergence, Step, StepPair, TaskPairs } from "./types.ts";
import { findSourcePlace, placeBeforeRemoved, shortPlace, simplifyLocation } from "./where.ts";

/** Tasks shown before and after the first one that differs. */
const NEIGHBORS = 2;

/** Steps kept per task. A fan-out of thousands would not be readable. */
const SHOWN_STEPS = 60;

export type { Replay } from "./likely.ts";

/**
 * Edits found for similar differences. Of hundreds of runs with the same difference only a few are
 * tried; the others get the same edit.
 */
export class KnownEdits {
  readonly #known = new Map<string, { readonly found: Found | undefined; times: number }>();

  /** Returns the edit of a difference that was tried often enough. */
  of(key: string): { readonly found: Found | undefined } | undefined {
    const known = this.#known.get(key);
    return known !== undefined && known.times >= TRIED ? known : undefined;
  }

  note(key: string, found: Found | undefined): void {
    const known = this.#known.get(key);
    if (known !== undefined) known.times++;
    // The edited history is not kept.
    else if (this.#known.size < MAX_KNOWN) {
      this.#known.set(key, {
        found: found && { ...found, candidate: { ...found.candidate, edited: () => undefined } },
        times: 1,
      });
    }
  }
}

/** How many similar differences are tried. */
const TRIED = 5;
const MAX_KNOWN = 500;

/**
 * Explains the divergence of a replay. Resolves to undefined if there is nothing to compare: the
 * code failed, or the replay recorded no evidence.
 */
export async function explainDivergence(
  history: Uint8Array,
  verdict: ReplayVerdict,
  replay: Replay | undefined,
  { known, lines }: Helpers = {},
): Promise<Divergence | undefined> {
  const { error } = verdict;
  if (error?.evidence === undefined || isThrownByCode(verdict)) return undefined;
  const events = decodeEventList(history);
  const tasks = readHistoryTasks(events);
  const sides = new Sides(tasks, readCodeTasks(error.evidence));
  const place = sides.firstPlace(error.eventId) ?? placeOfError(tasks, sides, error, verdict);
  if (place === undefined) return undefined;
  return await explained({
    events,
    sides,
    place,
    verdict,
    error,
    evidence: error.evidence,
    replay,
    edits: known,
    lines,
  });
}

/** Optional means to improve an explanation. */
export interface Helpers {
  /** Edits of earlier divergences. */
  readonly known?: KnownEdits | undefined;
  /**
   * Replays again and returns which lines ran, with the path of the task that started at the given
   * event.
   */
  readonly lines?: ((pathOf: number) => Promise<LineTrace | undefined>) | undefined;
}

interface Known {
  readonly events: readonly HistoryEvent[];
  readonly sides: Sides;
  readonly place: Place;
  readonly verdict: ReplayVerdict;
  readonly error: ReplayError;
  readonly evidence: ReplayEvidence;
  readonly replay: Replay | undefined;
  readonly edits: KnownEdits | undefined;
  readonly lines: Helpers["lines"];
}

async function explained(known: Known): Promise<Divergence> {
  const { sides, place, error, evidence } = known;
  const found = await foundEdit(known);
  const pair = place.pairs[place.at]!;
  const lines = await readTaskLines(known);
  const edit = nameCaughtMistake(lines.caught, found) ??
    nameEdit(place, sides, known.events, evidence, found);
  const current = findSourcePlace(place, evidence);
  const gone = GONE.has(edit.edit.kind) ? placeBeforeRemoved(current, place) : current;
  // A handler that ends in this task, and not in history's, is where the step was.
  const isOfHandler = edit.shifted !== undefined && edit.edit.kind === "removed" &&
    pair.code?.kind === "update" && pair.history?.kind !== "update";
  const where = edit.at === undefined || isOfHandler
    ? refineByPath(gone, place, edit.edit, lines)
    : { ...current, location: edit.at, how: "command" as const };
  const eventId = pair.history?.eventId ?? lastRight(place);
  const location = simplifyLocation(
    where.location === "" ? error.location : where.location,
    where.fiber,
  );
  const sentence = summarizeDivergence(place, pair, { ...where, location }, edit);
  const run = readInheritedValues(known.events[0]);
  return {
    firstTask: place.task.task,
    startedEventId: place.task.startedEventId,
    eventId,
    location,
    fiber: where.fiber,
    sentence,
    first: shownPair(pair, run),
    tasks: neighbors(place, sides, run),
    following: listFollowing(place, sides),
    edit: edit.edit,
    repair: edit.shifted === undefined
      ? suggestRepair(pair, edit.edit, location)
      : inWords(suggestRepair(edit.shifted, edit.edit, location)),
    key: JSON.stringify([
      edit.edit.kind,
      edit.edit.subject,
      pair.code?.text ?? "",
      pair.history?.text ?? "",
      shortPlace(location),
    ]),
  };
}

/** Without a patch id: the lines of the first difference are not those to change. */
const inWords = (repair: Repair | undefined): Repair | undefined =>
  repair && { ...repair, patchId: "" };

async function foundEdit(
  { events, sides, place, verdict, replay, edits }: Known,
): Promise<Found | undefined> {
  if (replay === undefined) return guessEdit(events, place, sides);
  const { history, code } = place.pairs[place.at]!;
  const key = JSON.stringify([verdict.workflowType, history?.text, code?.text, code?.site]);
  const known = edits?.of(key);
  if (known !== undefined) return known.found;
  const strict = !verdict.warnings.some(({ code, eventId }) =>
    code === EXTRA_COMMAND && eventId < place.task.startedEventId
  );
  const found = await findLikelyEdit(events, place, sides, replay, strict);
  edits?.note(key, found);
  return found;
}

const NO_LINES: TaskLines = { path: [], stuck: undefined, caught: undefined };

/** Returns what is known of the lines that the code ran in the task. */
async function readTaskLines({ lines, place, evidence }: Known): Promise<TaskLines> {
  const { startedEventId } = place.task;
  try {
    const trace = await lines?.(startedEventId);
    if (trace === undefined) return NO_LINES;
    const of = { lines: trace, evidence, startedEventId };
    return { path: readPath(trace), stuck: findStuckAwait(of), caught: findCaughtMistake(of) };
  } catch {
    // The sources changed since, or the realm is being disposed: explain without lines.
    return NO_LINES;
  }
}

function listFollowing({ at, pairs, task }: Place, { history }: Sides): Divergence["following"] {
  const here = pairs[at]!.history?.eventId ?? task.completedEventId;
  const later = history.flatMap(({ steps }) => steps).filter(({ eventId }) => eventId >= here);
  if (later.some(({ kind }) => kind === "end")) return "end";
  return later.some(({ eventId }) => eventId > here) ? "steps" : "nothing";
}

/** Returns the last event of the task that the code also has. */
function lastRight({ task, at, pairs }: Place): number {
  return pairs.slice(0, at).findLast(({ history }) => history !== undefined)?.history?.eventId ??
    task.completedEventId;
}

/**
 * Returns the place that the core reported, for steps that look alike: fields, flags and results
 * that the core compares.
 */
function placeOfError(
  tasks: readonly HistoryTask[],
  sides: Sides,
  { eventId, seq, commandKind }: ReplayError,
  verdict: ReplayVerdict,
): Place | undefined {
  if (verdict.verdict !== "nondeterminism") return undefined;
  const task = tasks.findLast(({ startedEventId }) => startedEventId < eventId) ?? tasks.at(-1);
  if (task === undefined) return undefined;
  const pairs = sides.pairs(task);
  const exact = pairs.findIndex(({ history }) => history?.eventId === eventId);
  const byCommand = pairs.findIndex(({ code }) =>
    code !== undefined && code.command.kind === commandKind && code.command.seq === seq
  );
  const at = exact >= 0 ? exact : byCommand;
  if (at >= 0) return { task, at, pairs };
  const code = sides.code.get(task.startedEventId)?.at(-1);
  if (code === undefined) return undefined;
  return { task, at: pairs.length, pairs: [...pairs, { history: undefined, code, same: false }] };
}

function neighbors({ task }: Place, sides: Sides, run: OfRun): TaskPairs[] {
  const from = Math.max(0, task.task - 1 - NEIGHBORS);
  return sides.history.slice(from, task.task + NEIGHBORS).map((one) => ({
    task: one.task,
    startedEventId: one.startedEventId,
    pairs:
      (sides.has(one)
        ? sides.pairs(one)
        : one.steps.map((history): Pair => ({ history, code: undefined, same: false })))
        .slice(0, SHOWN_STEPS).map((pair) => shownPair(pair, run)),
    notReplayed: !sides.has(one),
  }));
}

function shownPair({ history, code, same }: Pair, run: OfRun): StepPair {
  return {
    history: history && shownStep(history),
    code: code && shownStep(code),
    same,
    differences: history === undefined || code === undefined
      ? []
      : compareFields(history, code, run),
  };
}

const shownStep = ({ kind, name, text, eventId, site }: Step): Step => ({
  kind,
  name,
  text,
  eventId,
  site,
});

/**
 * Groups runs by their difference, largest group first: after a deployment hundreds may fail for
 * one or two reasons. Runs without a divergence are omitted.
 */
export function sharedDivergences<Run>(
  runs: Iterable<{ readonly run: Run; readonly divergence: Divergence | undefined }>,
): SharedDivergence<Run>[] {
  const groups = new Map<string, { readonly divergence: Divergence; readonly runs: Run[] }>();
  for (const { run, divergence } of runs) {
    if (divergence === undefined) continue;
    const group = groups.get(divergence.key);
    if (group === undefined) groups.set(divergence.key, { divergence, runs: [run] });
    else group.runs.push(run);
  }
  return [...groups].map(([key, group]) => ({ key, ...group })).toSorted((a, b) =>
    b.runs.length - a.runs.length
  );
}
