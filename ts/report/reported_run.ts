// What a report says of a run: its history is opened and, where there is code, replayed once.
import type { HistoryFile } from "../history_files/history_file.ts";
import { openRun } from "../debug/run/model.ts";
import { type DebugSession, openSession, type ReplayingRealm, UnknownWorkflowTypeError } from "../debug/session.ts";
import type { CodeExcerpt, ReportedRun } from "./types.ts";

/** What a run is reported from. */
export interface ReportedFrom {
  /** The file, or the run of a store or cluster, as people name it. */
  readonly source: string;
  /** Its values as they are to be shown. */
  readonly history: HistoryFile | Uint8Array;
  /** The code. */
  readonly realm?: ReplayingRealm;
  /** Why there is no replay, where there is no realm. */
  readonly notReplayed?: string;
  readonly strict?: boolean;
  /** What is to be known of the values. */
  readonly values: string;
  /** The code around "function (file:line:column)"; undefined where its text is not known. */
  excerpt?(location: string): CodeExcerpt | undefined | Promise<CodeExcerpt | undefined>;
}

/** Rejects for what is no history. Code that the history does not replay against is reported, and so is the lack of code. */
export async function reportedRun(from: ReportedFrom): Promise<ReportedRun> {
  const { source, history, values, excerpt } = from;
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
  const location = problem === undefined ? standing : problem.divergence?.location || problem.location;
  const code = location === "" ? undefined : await excerpt?.(location);
  return { source, model, verdict, session, problem, code, values, ...(reason !== undefined && { notReplayed: reason }) };
}

async function replayed(
  { realm, notReplayed, strict = false }: ReportedFrom,
  history: Uint8Array,
): Promise<{ readonly session?: DebugSession; readonly reason?: string }> {
  if (realm === undefined) return notReplayed === undefined ? {} : { reason: notReplayed };
  try {
    return { session: await openSession(history, { realm, strict, lines: false }) };
  } catch (error) {
    if (error instanceof UnknownWorkflowTypeError) return { reason: `Not replayed: ${error.message}.` };
    throw error;
  }
}
