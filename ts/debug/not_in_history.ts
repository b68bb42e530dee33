// Commands that the code issues in a completed workflow task and that history does not have. The
// replay passes, because nothing in history contradicts them. The next task of the run would send
// them.
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { RecordedActivation, RecordedCommand } from "../executor/tasks/recording.ts";
import type { ReplayVerdict } from "../executor/tasks/replay.ts";
import type { ReplayTrace } from "../executor/tasks/replay_trace.ts";
import { Sides } from "./divergence/align.ts";
import { readCodeTasks } from "./divergence/code_steps.ts";
import { readHistoryTasks } from "./divergence/history_steps.ts";
import { describeAction } from "./divergence/steps.ts";
import { hasExtraCommand } from "./verdict_kinds.ts";

/** A command that history does not have. */
export interface NotInHistory {
  /** Number of the workflow task, from 1. */
  readonly task: number;
  /** Id of the task's WorkflowTaskStarted event. */
  readonly startedEventId: number;
  /** True if no workflow task follows in the history. */
  readonly isLast: boolean;
  /** What the code does, in the third person: "calls activity charge". */
  readonly does: string;
  /** "activity charge" */
  readonly text: string;
  /** The user's line, "function (file:line:column)"; "" if unknown. */
  readonly site: string;
}

/** With the command itself. */
export interface ExtraCommand extends NotInHistory {
  readonly command: RecordedCommand;
}

/** Returns all of them in order; [] if the replay reports none. */
export function commandsNotInHistory(
  verdict: Pick<ReplayVerdict, "verdict" | "warnings">,
  events: readonly HistoryEvent[],
  recorded: {
    readonly activations: readonly RecordedActivation[];
    readonly jobs: ReplayTrace["jobs"];
  },
): ExtraCommand[] {
  if (!hasExtraCommand(verdict)) return [];
  const tasks = readHistoryTasks(events);
  const sides = new Sides(tasks, readCodeTasks(recorded));
  return tasks.filter((task) => sides.has(task)).flatMap((task) =>
    sides.pairs(task).flatMap(({ history, code, same }) =>
      history !== undefined || code === undefined || same ? [] : [{
        task: task.task,
        startedEventId: task.startedEventId,
        isLast: task === tasks.at(-1),
        does: describeAction(code),
        text: code.text,
        site: code.site,
        command: code.command,
      }]
    )
  );
}
