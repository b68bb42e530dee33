// Finds the likely edit. Each candidate is tried: the history is edited in the same way and
// replayed. The candidate with which the code gets furthest wins; if the replay passes, the edit is
// verified.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { ReplayOptions, ReplayVerdict } from "../../executor/tasks/replay.ts";
import { hasExtraCommand } from "../verdict_kinds.ts";
import { type Place, Sides } from "./align.ts";
import { type Candidate, decodeEventList, listCandidates } from "./candidates.ts";
import { readCodeTasks } from "./code_steps.ts";
import { compareFields, type OfRun, readInheritedValues } from "./differences.ts";
import { readHistoryTasks } from "./history_steps.ts";
import { isSameStep } from "./steps.ts";
import type { LikelyEdit } from "./types.ts";

/** Replays an encoded History under the workflow's ID. */
export type Replay = (history: Uint8Array, options: ReplayOptions) => Promise<ReplayVerdict>;

/** A candidate with its confidence. */
export interface Found {
  readonly candidate: Candidate;
  readonly confidence: LikelyEdit["confidence"];
}

/** Maximum number of repetitions of an edit: a changed step in a loop differs in each iteration. */
const REPEATS = 24;
/** Approximate limit of events to replay per candidate. Long histories get fewer repetitions. */
const EVENTS = 40_000;

/**
 * Returns where a replay ended, as an event ID of the original history; Infinity: the replay
 * passed.
 */
function measureReach(result: ReplayVerdict, oldIds: readonly number[]): number {
  const { verdict, error, events } = result;
  // The replay passes with an unmatched command: this edit does not explain everything.
  if (verdict === "ok" && !hasExtraCommand(result)) return Infinity;
  const at = error === undefined || error.eventId === 0 ? events : error.eventId;
  return oldIds[at - 1] ?? 0;
}

/**
 * As `reachOf`, for an error that workflow code threw and that has no event: compares the commands
 * with history.
 */
async function reachOfCode(
  { bytes, oldIds }: NonNullable<ReturnType<Candidate["edited"]>>,
  replay: (history: Uint8Array) => Promise<ReplayVerdict>,
): Promise<number> {
  const { evidence, eventId = 0 } = (await replay(bytes)).error ?? {};
  const place = evidence &&
    new Sides(readHistoryTasks(decodeEventList(bytes)), readCodeTasks(evidence)).firstPlace(
      eventId,
    );
  if (place === undefined) return 0;
  return oldIds[(place.pairs[place.at]!.history?.eventId ?? place.task.completedEventId) - 1] ?? 0;
}

/**
 * Whether the candidate matches the next steps of both sides although their duration or input
 * differs. The replay does not compare these, so another candidate that also fits is more likely.
 */
function pairsUnlike({ kind, code, history }: Candidate, sides: Sides, run: OfRun): boolean {
  if (code === undefined || history === undefined) return false;
  if (kind === "removed") {
    const steps = sides.history.flatMap(({ steps }) => steps);
    const next = steps.find((step) => step.eventId > history.eventId && isSameStep(step, code));
    return next !== undefined && compareFields(next, code, run).length > 0;
  }
  if (kind !== "inserted") return false;
  const steps = [...sides.code.values()].flat();
  const next = steps.slice(steps.indexOf(code) + 1).find((step) => isSameStep(history, step));
  return next !== undefined && compareFields(history, next, run).length > 0;
}

/** Resolves to undefined if no candidate gets the code further. */
export async function findLikelyEdit(
  events: readonly HistoryEvent[],
  place: Place,
  sides: Sides,
  replay: Replay,
  strict: boolean,
): Promise<Found | undefined> {
  const from = place.pairs[place.at]!.history?.eventId ?? place.task.completedEventId;
  const further: {
    readonly candidate: Candidate;
    readonly reach: number;
    readonly bytes: Uint8Array;
  }[] = [];
  const run = readInheritedValues(events[0]);
  let unlike: Candidate | undefined;
  const candidates = listCandidates(events, place, sides);
  for (const candidate of candidates) {
    const edited = candidate.edited();
    if (edited === undefined) continue;
    const result = await replay(edited.bytes, { callSites: "never", strict });
    // What the code throws has no event: its commands show how far it got.
    const isThrown = result.error?.name === "HistoryMismatchError" ||
      (result.verdict === "failed" && result.error?.eventId === 0);
    const reach = isThrown
      ? await reachOfCode(edited, (bytes) => replay(bytes, { callSites: "always", strict }))
      : measureReach(result, edited.oldIds);
    if (reach === Infinity) {
      if (!pairsUnlike(candidate, sides, run)) return { candidate, confidence: "verified" };
      unlike ??= candidate;
    } else if (reach > from) further.push({ candidate, reach, bytes: edited.bytes });
  }
  if (unlike !== undefined) return { candidate: unlike, confidence: "verified" };
  const isNewStep = !candidates.some(({ kind }) => kind === "reordered");
  // A step that history does not have is not explained by the removal of another one.
  const explains = ({ kind }: Candidate) => isNewStep && kind === "removed" ? 0 : 1;
  further.sort((a, b) => b.reach - a.reach || explains(b.candidate) - explains(a.candidate));
  const times = Math.max(2, Math.min(REPEATS, Math.floor(EVENTS / events.length)));
  let later: Candidate | undefined;
  for (const { candidate, bytes } of further) {
    const end = await repeated(
      candidate,
      bytes,
      (history) => replay(history, { callSites: "always", strict }),
      times,
      run,
    );
    if (end === "fits") return { candidate, confidence: "verified" };
    if (end === "moved") later ??= candidate;
  }
  const [best] = further;
  if (best === undefined) return undefined;
  if (later === best.candidate) {
    return { candidate: { ...later, kind: "reordered", code: undefined }, confidence: "likely" };
  }
  return { candidate: best.candidate, confidence: "likely" };
}

/**
 * Repeats an edit at each later difference that looks alike. "fits": the replay passes. "moved":
 * the removed step is what the code has at the next difference.
 */
async function repeated(
  candidate: Candidate,
  history: Uint8Array,
  replay: (history: Uint8Array) => Promise<ReplayVerdict>,
  times: number,
  run: OfRun,
): Promise<"fits" | "moved" | "fails"> {
  let bytes = history;
  for (let i = 0; i < times; i++) {
    const verdict = await replay(bytes);
    if (verdict.verdict === "ok") return hasExtraCommand(verdict) ? "fails" : "fits";
    const { evidence, eventId = 0 } = verdict.error ?? {};
    if (evidence === undefined) return "fails";
    const events = decodeEventList(bytes);
    const sides = new Sides(readHistoryTasks(events), readCodeTasks(evidence));
    const place = sides.firstPlace(eventId);
    if (place === undefined) return "fails";
    const { code } = place.pairs[place.at]!;
    if (
      i === 0 && candidate.kind === "removed" && code !== undefined &&
      isSameStep(code, candidate.history!) &&
      // Generated ids of children say nothing: the next child gets that of the removed one.
      !compareFields(candidate.history!, code, run).some(({ counts }) => !counts)
    ) return "moved";
    const again = listCandidates(events, place, sides).find((one) => isAlike(one, candidate))
      ?.edited();
    if (again === undefined) return "fails";
    bytes = again.bytes;
  }
  return "fails";
}

const isAlike = (a: Candidate, b: Candidate): boolean =>
  a.kind === b.kind && alike(a.code, b.code) && alike(a.history, b.history);

/** The ids of side effects, children and updates differ between the iterations of a loop. */
function alike(
  a: Candidate["code"] | Candidate["history"],
  b: Candidate["code"] | Candidate["history"],
): boolean {
  return a === undefined || b === undefined ? a === b : isSameStep(a, b) ||
    (a.kind === b.kind && a.name === b.name && a.plan.answer === b.plan.answer);
}

/** Chooses a candidate without a replay, by the later steps. */
export function guessEdit(
  events: readonly HistoryEvent[],
  place: Place,
  sides: Sides,
): Found | undefined {
  const candidates = listCandidates(events, place, sides);
  const of = (kind: Candidate["kind"]) => candidates.find((candidate) => candidate.kind === kind);
  const [moved, removed, renamed, inserted] = [
    of("reordered"),
    of("removed"),
    of("renamed"),
    of("inserted"),
  ];
  const { history: here } = place.pairs[place.at]!;
  const goesOn = here !== undefined &&
    place.pairs.slice(place.at).some(({ code }) => code !== undefined && isSameStep(here, code));
  if (goesOn && inserted !== undefined) return { candidate: inserted, confidence: "likely" };
  if (moved !== undefined && removed !== undefined) {
    return { candidate: removed, confidence: "guess" };
  }
  const guess = renamed ?? inserted ?? removed;
  return guess && { candidate: guess, confidence: "guess" };
}
