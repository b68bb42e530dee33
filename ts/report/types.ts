// What a report is made from.
import type { RunModel } from "../debug/run/types.ts";
import type { SessionProblem } from "../debug/problem.ts";
import type { DebugSession } from "../debug/session.ts";

/** What is wrong, as far as it may be shown. */
export type ReportedProblem = Pick<
  SessionProblem,
  "message" | "position" | "eventId" | "expected" | "actual" | "diffs" | "location" | "isDivergence" | "divergence"
>;

/** Lines of workflow code. */
export interface CodeExcerpt {
  /** The file, as people name it. */
  readonly name: string;
  /** Number of the first line. */
  readonly first: number;
  /** The line that is meant. */
  readonly line: number;
  /** All lines of the file up to the last one that is shown: what a line is depends on those above it. */
  readonly text: string;
}

/** One history, with what its replay said. */
export interface ReportedRun {
  /** The file, or the run of a store or cluster. */
  readonly source: string;
  readonly model: RunModel;
  readonly verdict: ReportedVerdict;
  /** The replay of it; undefined: there was none. */
  readonly session: DebugSession | undefined;
  /** Why there was none. */
  readonly notReplayed?: string;
  readonly problem: ReportedProblem | undefined;
  /** Around the line at which the two part, or at which the code stands. */
  readonly code: CodeExcerpt | undefined;
  /** What is to be known of the values that are shown: how they were replaced. */
  readonly values: string;
}

/** What is said of a run in one word. */
export type ReportedVerdict = "replays" | "diverges" | "fails" | "not replayed" | "unreadable";

/** One line of the table of many histories. */
export interface ReportedLine {
  readonly source: string;
  readonly verdict: ReportedVerdict;
  readonly type: string;
  readonly id: string;
  readonly events: number;
  /** What is wrong, in a sentence; "" for nothing. */
  readonly text: string;
}

/** Many histories. */
export interface ManyHistories {
  /** How many have which verdict, all of them. */
  readonly verdicts: readonly (readonly [verdict: ReportedLine["verdict"], histories: number])[];
  /** Those that are listed; `run`: index in `runs` of its section. */
  readonly lines: readonly (ReportedLine & { readonly run?: number })[];
  /** Sentences about what is not in the file. */
  readonly leftOut: readonly string[];
}
