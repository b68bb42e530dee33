// The data of a report.
import type { RunModel } from "../debug/run/types.ts";
import type { SessionProblem } from "../debug/problem.ts";
import type { DebugSession } from "../debug/session.ts";

/** The problem of a run, without fields that are not shown. */
export type ReportedProblem = Pick<
  SessionProblem,
  | "message"
  | "position"
  | "eventId"
  | "expected"
  | "actual"
  | "diffs"
  | "location"
  | "isDivergence"
  | "divergence"
>;

/** Lines of workflow code. */
export interface CodeExcerpt {
  /** The file, as users name it. */
  readonly name: string;
  /** Number of the first line. */
  readonly first: number;
  /** Number of the marked line. */
  readonly line: number;
  /** All lines of the file up to the last shown one: highlighting depends on the lines above. */
  readonly text: string;
}

/** A history with the result of its replay. */
export interface ReportedRun {
  /** The file, or the run of a store or cluster. */
  readonly source: string;
  readonly model: RunModel;
  /** The time in ms at which the run was read from its service; undefined for a file. */
  readonly readMs?: number | undefined;
  readonly verdict: ReportedVerdict;
  /** Undefined: the history was not replayed. */
  readonly session: DebugSession | undefined;
  /** Why the history was not replayed. */
  readonly notReplayed?: string;
  readonly problem: ReportedProblem | undefined;
  /** The code around the line of the divergence, or at which the run waits. */
  readonly code: CodeExcerpt | undefined;
  /** A note about the values, for example how they were redacted. */
  readonly values: string;
}

/** The verdict of a run in a report. */
export type ReportedVerdict = "replays" | "diverges" | "fails" | "not replayed" | "unreadable";

/** A row in the table of histories. */
export interface ReportedLine {
  readonly source: string;
  readonly verdict: ReportedVerdict;
  readonly type: string;
  readonly id: string;
  readonly events: number;
  /** The problem in a sentence; "" without one. */
  readonly text: string;
}

/** A report about many histories. */
export interface ManyHistories {
  /** Number of histories per verdict, including those that are not listed. */
  readonly verdicts: readonly (readonly [verdict: ReportedLine["verdict"], histories: number])[];
  /** The listed histories; `run`: index of the section in `runs`. */
  readonly lines: readonly (ReportedLine & { readonly run?: number })[];
  /** Sentences about what the file omits. */
  readonly leftOut: readonly string[];
}
