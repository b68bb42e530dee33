// What a session's replay wrote down, as views are made from it.
import type { HistoryEvent } from "../api/generated/temporal/api/history/v1/message_pb.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { RecordedActivation, RecordedCommand } from "../executor/tasks/recording.ts";
import type { ReplayTrace } from "../executor/tasks/replay_trace.ts";
import type { EventLinks } from "./event_links.ts";
import type { EventLine } from "./events.ts";
import type { NotInHistory } from "./not_in_history.ts";
import type { SessionProblem } from "./problem.ts";
import type { ViewCache } from "./view.ts";

/** One workflow task that the code ran. */
export interface TaskLine {
  /** From 0. */
  readonly index: number;
  /** The event at which it runs: its WorkflowTaskStarted. */
  readonly eventId: number;
  /** The last event that it wrote; its own where it wrote none. */
  readonly lastEventId: number;
  /** Workflow time, milliseconds since the epoch. */
  readonly timeMs: number;
}

/** With the indices of its activations. */
export interface SessionTask extends TaskLine {
  readonly first: number;
  readonly last: number;
}

/** What views are made from. */
export interface SessionData {
  readonly events: readonly HistoryEvent[];
  readonly lines: readonly EventLine[];
  readonly links: EventLinks;
  readonly tasks: readonly SessionTask[];
  readonly activations: readonly RecordedActivation[];
  readonly trace: ReplayTrace;
  readonly problem: SessionProblem | undefined;
  readonly notInHistory: readonly NotInHistory[];
  /** The same, to look up. */
  readonly extraCommands: ReadonlySet<RecordedCommand>;
  readonly converter: PayloadConverter | undefined;
  /** What views have decoded already. */
  readonly cache: ViewCache;
}
