// The recording of a session's replay, from which views are made.
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { RecordedActivation, RecordedCommand } from "../executor/tasks/recording.ts";
import type { ReplayTrace } from "../executor/tasks/replay_trace.ts";
import type { EventLinks } from "./event_links.ts";
import type { EventLine } from "./events.ts";
import type { NotInHistory } from "./not_in_history.ts";
import type { SessionProblem } from "./problem.ts";
import type { ViewCache } from "./view.ts";

/** A workflow task that the code executed. */
export interface TaskLine {
  /** Counted from 0. */
  readonly index: number;
  /** The WorkflowTaskStarted event at which the task runs. */
  readonly eventId: number;
  /** The last event of the task's commands; `eventId` if it has none. */
  readonly lastEventId: number;
  /** Workflow time, in milliseconds since the epoch. */
  readonly timeMs: number;
}

/** A task with the indices of its activations. */
export interface SessionTask extends TaskLine {
  readonly first: number;
  readonly last: number;
}

/** The input of a view. */
export interface SessionData {
  readonly events: readonly HistoryEvent[];
  readonly lines: readonly EventLine[];
  readonly links: EventLinks;
  readonly tasks: readonly SessionTask[];
  readonly activations: readonly RecordedActivation[];
  readonly trace: ReplayTrace;
  readonly problem: SessionProblem | undefined;
  readonly notInHistory: readonly NotInHistory[];
  /** The same commands, for look-up. */
  readonly extraCommands: ReadonlySet<RecordedCommand>;
  readonly converter: PayloadConverter | undefined;
  /** Values that views have already decoded. */
  readonly cache: ViewCache;
}
