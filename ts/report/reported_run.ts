// Opens the history of a run for a report and, if there is code, replays it once.
import type { HistoryFile } from "../history_files/history_file.ts";
import { openRun } from "../debug/run/model.ts";
import {
  type DebugSession,
  openSession,
  type ReplayingRealm,
  UnknownWorkflowTypeError,
} from "../debug/session.ts";
import type { CodeExcerpt, ReportedRun } from "./types.ts";

/** The input for a reported run. */
export interface ReportedFrom {
  /** The file, or the run of a store or cluster, as users name it. */
  readonly source: string;
  /** The history with the values to show. */
  readonly history: HistoryFile | Uint8Array;
  /** The time in ms at which the run was read from its service; undefined for a file. */
  readonly readMs?: number | undefined;
  readonly realm?: ReplayingRealm;
  /** Why the history is not replayed, without a realm. */
  readonly notReplayed?: string;
  readonly strict?: boolean;
  /** A note about the values, for example that they are redacted. */
  readonly values: string;
  /**
   * Returns the code around "function (file:line:column)"; undefined if the source text is unknown.
   */
  excerpt?(location: string): CodeExcerpt | undefined | Promise<CodeExcerpt | undefined>;
}

/** Rejects if the file is not a history. A failed replay and missing code are reported. */
export async function reportedRun(from: ReportedFrom): Promise<ReportedRun> {
  const { source, history, readMs, values, excerpt } = from;
  const model = await openRun(history);
  const { session, reason } = await replayed(from, model.bytes);
  const problem = session?.problem;
  const standing = session === undefined || model.facts.status !== "Running"
    ? ""
    : session.viewAt(session.length).open.find(({ site }) => site !== "")?.site ?? "";
  const verdict = problem !== undefined
    ? problem.isDivergence ? "diverges" as const : "fails" as const
    : session === undefined
    ? "not replayed" as const
    : "replays" as const;
  const location = problem === undefined
    ? standing
    : problem.divergence?.location || problem.location;
  const code = location === "" ? undefined : await excerpt?.(location);
  return {
    source,
    model,
    readMs,
    verdict,
    session,
    problem,
    code,
    values,
    ...(reason !== undefined && { notReplayed: reason }),
  };
}

async function replayed(
  { realm, notReplayed, strict = false }: ReportedFrom,
  history: Uint8Array,
): Promise<{ readonly session?: DebugSession; readonly reason?: string }> {
  if (realm === undefined) return notReplayed === undefined ? {} : { reason: notReplayed };
  try {
    return { session: await openSession(history, { realm, strict, lines: false }) };
  } catch (error) {
    if (error instanceof UnknownWorkflowTypeError) {
      return { reason: `Not replayed: ${error.message}.` };
    }
    throw error;
  }
}
