// Minimizes a history that diverges: removes what follows the divergence, and everything before it
// that is not needed to reach it. A test made from the history must pass with repaired code. So
// nothing before the divergence is removed unless the repaired code is given or the caller asks for
// it.
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { decodeHistoryBytes } from "../../history_files/decode_events.ts";
import type { ReplayingRealm } from "../session.ts";
import { ddmin, type Trying } from "./ddmin.ts";
import { problemKey } from "../problem.ts";
import { groupIntoUnits, keepEvents } from "./units.ts";

/** Options of {@link minimize}. */
export interface MinimizeOptions {
  /** A realm with the code that diverges from the history. */
  readonly realm: ReplayingRealm;
  /** A realm with code that replays the history; it must also replay the minimized history. */
  readonly repaired?: ReplayingRealm;
  /**
   * Also remove events before the divergence without `repaired`. The result is smaller, but
   * repaired code may not replay it.
   */
  readonly thorough?: boolean;
  /** For histories that do not contain it. */
  readonly workflowId?: string;
  /** Also treat extra commands and swapped update IDs as divergences. */
  readonly strict?: boolean;
  /** Called after each replay. */
  readonly onProgress?: (progress: Trying) => void;
  /** Stops the search; the best result so far is returned. */
  readonly signal?: AbortSignal;
  /** Maximum number of replays. Default: 2000. */
  readonly maxReplays?: number;
}

/** The result of {@link minimize}. */
export interface MinimalHistory {
  /** Bytes of temporal.api.history.v1.History. */
  readonly history: Uint8Array;
  readonly events: readonly [before: number, after: number];
  /** Number of replays that were run. */
  readonly replays: number;
  /** The search was stopped early; a smaller history may exist. */
  readonly stopped: boolean;
}

/** The history replays without a problem. */
export class NoProblemError extends Error {
  override name = "NoProblemError";
}

/** The code given as `repaired` does not replay the history. */
export class NotRepairedError extends Error {
  override name = "NotRepairedError";
}

/**
 * Minimizes a history (bytes of temporal.api.history.v1.History) while its replay fails in the same
 * way: same kind of problem, same first difference, same line. Rejects with a NoProblemError if the
 * history replays, and with a HistoryFileError for bytes that are not a history.
 */
export async function minimize(
  history: Uint8Array,
  options: MinimizeOptions,
): Promise<MinimalHistory> {
  const {
    realm,
    repaired,
    workflowId = "",
    strict = false,
    onProgress,
    signal,
    maxReplays = 2000,
  } = options;
  let replays = 0;
  const replay = async (events: readonly HistoryEvent[]): Promise<string> => {
    replays++;
    // The key has the place of the divergence, and nothing of its repair.
    const verdict = await realm.replay(workflowId, encode(events), { strict, repairs: false });
    return problemKey(verdict);
  };
  const all = decodeHistoryBytes(history).events;
  const wanted = await replay(all);
  if (wanted === "ok") {
    throw new NoProblemError("the history replays against this code: no divergence to keep");
  }
  const repairedTakes = async (events: readonly HistoryEvent[]): Promise<boolean> => {
    if (repaired === undefined) return true;
    const how = { strict, explain: false, callSites: "never" } as const;
    return (await repaired.replay(workflowId, encode(events), how)).verdict === "ok";
  };
  if (!await repairedTakes(all)) {
    throw new NotRepairedError("the repaired code does not replay the history");
  }
  const holds = async (some: readonly HistoryEvent[]): Promise<boolean> =>
    await replay(some) === wanted && await repairedTakes(some);
  const ended = () => signal?.aborted === true || replays >= maxReplays;
  onProgress?.({ tried: replays, left: all.length });
  let events: readonly HistoryEvent[] = await shortest(all, holds, ended);
  while (repaired !== undefined || options.thorough === true) {
    const before = events;
    const units = groupIntoUnits(before);
    const build = (some: readonly number[][]) => keepEvents(before, new Set(some.flat()));
    const left = await ddmin(units, (some) => holds(build(some)), (trying) => {
      onProgress?.({ tried: replays, left: trying.left });
      return ended();
    });
    events = left.length === units.length ? before : build(left);
    // Removing an item can make others removable: a task without commands, and the message that it
    // handled.
    if (events.length === before.length || ended()) break;
  }
  return {
    history: encode(events),
    events: [all.length, events.length],
    replays,
    stopped: ended(),
  };
}

const encode = (events: readonly HistoryEvent[]): Uint8Array =>
  toBinary(HistorySchema, create(HistorySchema, { events: [...events] }));

/** Returns the shortest prefix that fails in the same way, cut between workflow tasks. */
async function shortest(
  events: readonly HistoryEvent[],
  holds: (some: readonly HistoryEvent[]) => Promise<boolean>,
  ended: () => boolean,
): Promise<readonly HistoryEvent[]> {
  const cuts = events.flatMap(({ attributes }, i) => {
    if (attributes.case !== "workflowTaskScheduledEventAttributes" && i + 1 < events.length) {
      return [];
    }
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
