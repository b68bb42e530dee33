// The smallest history that shows the same divergence: what came after it is cut off, and of what came before only what is needed to get there
// is kept. What the repaired code needs of it is known only where that code is given: without it nothing is left out before the divergence,
// unless the caller asks for it, so that a test made of the history passes once the code is repaired.
import { create, toBinary } from "@bufbuild/protobuf";
import { type HistoryEvent, HistorySchema } from "../../api/generated/temporal/api/history/v1/message_pb.ts";
import { decodeHistoryBytes } from "../../history_files/decode_events.ts";
import type { ReplayingRealm } from "../session.ts";
import { ddmin, type Trying } from "./ddmin.ts";
import { problemKey } from "../problem.ts";
import { keepEvents, unitsOf } from "./units.ts";

/** Options of {@link minimise}. */
export interface MinimiseOptions {
  /** With the code that parts from the history. */
  readonly realm: ReplayingRealm;
  /** With code that replays the history: it replays what is left, too. */
  readonly repaired?: ReplayingRealm;
  /** Leave out what came before also without `repaired`: less is left, which repaired code may not replay. */
  readonly thorough?: boolean;
  /** For histories that do not say it. */
  readonly workflowId?: string;
  /** Extra commands and swapped update ids count as divergences, too. */
  readonly strict?: boolean;
  /** Told after each replay. */
  readonly onProgress?: (progress: Trying) => void;
  /** Ends it with what it has so far. */
  readonly signal?: AbortSignal;
  /** Replays at most. Default: 2000. */
  readonly maxReplays?: number;
}

/** What is left. */
export interface MinimalHistory {
  /** Bytes of temporal.api.history.v1.History. */
  readonly history: Uint8Array;
  /** Events before and after. */
  readonly events: readonly [before: number, after: number];
  /** How many replays it took. */
  readonly replays: number;
  /** It was ended early: there may be a smaller one. */
  readonly stopped: boolean;
}

/** The history replays without a problem, so there is nothing to keep. */
export class NoProblemError extends Error {
  override name = "NoProblemError";
}

/** The code that was given as repaired does not replay the history. */
export class NotRepairedError extends Error {
  override name = "NotRepairedError";
}

/**
 * Minimises a history (bytes of temporal.api.history.v1.History) while its replay goes wrong in the same way: the same kind of problem, the
 * same first difference, the same line. Rejects with a NoProblemError where it replays, and with a
 * HistoryFileError for bytes that are not a history.
 */
export async function minimise(history: Uint8Array, options: MinimiseOptions): Promise<MinimalHistory> {
  const { realm, repaired, workflowId = "", strict = false, onProgress, signal, maxReplays = 2000 } = options;
  let replays = 0;
  const replay = async (events: readonly HistoryEvent[]): Promise<string> => {
    replays++;
    const verdict = await realm.replay(workflowId, encode(events), { strict });
    return problemKey(verdict);
  };
  const all = decodeHistoryBytes(history).events;
  const wanted = await replay(all);
  if (wanted === "ok") throw new NoProblemError("the history replays against this code: there is no divergence to keep");
  const repairedTakes = async (events: readonly HistoryEvent[]): Promise<boolean> =>
    repaired === undefined || (await repaired.replay(workflowId, encode(events), { strict })).verdict === "ok";
  if (!await repairedTakes(all)) throw new NotRepairedError("the repaired code does not replay the history");
  const holds = async (some: readonly HistoryEvent[]): Promise<boolean> =>
    await replay(some) === wanted && await repairedTakes(some);
  const ended = () => signal?.aborted === true || replays >= maxReplays;
  onProgress?.({ tried: replays, left: all.length });
  let events: readonly HistoryEvent[] = await shortest(all, holds, ended);
  while (repaired !== undefined || options.thorough === true) {
    const before = events;
    const units = unitsOf(before);
    const build = (some: readonly number[][]) => keepEvents(before, new Set(some.flat()));
    const left = await ddmin(units, (some) => holds(build(some)), (trying) => {
      onProgress?.({ tried: replays, left: trying.left });
      return ended();
    });
    events = left.length === units.length ? before : build(left);
    // Fewer things make others dispensable: a task that now asks for nothing, with the message that it handled.
    if (events.length === before.length || ended()) break;
  }
  return { history: encode(events), events: [all.length, events.length], replays, stopped: ended() };
}

const encode = (events: readonly HistoryEvent[]): Uint8Array =>
  toBinary(HistorySchema, create(HistorySchema, { events: [...events] }));

/** The shortest beginning of which it holds, cut where workflow tasks and their commands end. */
async function shortest(
  events: readonly HistoryEvent[],
  holds: (some: readonly HistoryEvent[]) => Promise<boolean>,
  ended: () => boolean,
): Promise<readonly HistoryEvent[]> {
  const cuts = events.flatMap(({ attributes }, i) => {
    if (attributes.case !== "workflowTaskScheduledEventAttributes" && i + 1 < events.length) return [];
    return attributes.case === "workflowTaskScheduledEventAttributes" ? [i] : [i + 1];
  });
  let [low, high] = [0, cuts.length - 1];
  while (low < high && !ended()) {
    const middle = (low + high) >> 1;
    if (await holds(events.slice(0, cuts[middle]))) high = middle;
    else low = middle + 1;
  }
  const cut = events.slice(0, cuts[high]);
  return cut.length < events.length && await holds(cut) ? cut : events;
}
