// Continues a real run from a position by Temporal's reset, which creates a new run with the
// history up to a workflow task. A debugger only shows the command.
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";

/** How to reset the run so that the position happens next. */
export type ResetAdvice =
  | {
    /** The command of Temporal's CLI. */
    readonly command: string;
    /** The last kept event, a WorkflowTaskCompleted. */
    readonly eventId: number;
    /** What the command does and does not do. */
    readonly note: string;
  }
  | { readonly command: undefined; readonly note: string };

const NOTE =
  "It starts a new run from there, and terminates the run that is open; signals and updates that came later are sent " +
  "to it again. Edits of a branch are not part of it. `temporalex workflow reset` takes the same options, for a store file or a cluster.";

/**
 * Returns the command that resets a run to the point before an event. IDs are quoted for POSIX
 * shells.
 */
export function resetAdvice(
  events: readonly HistoryEvent[],
  position: number,
  run: { readonly workflowId: string; readonly runId: string; readonly namespace?: string },
): ResetAdvice {
  const task = events.findLast(({ eventId, attributes }) =>
    Number(eventId) <= position && attributes.case === "workflowTaskCompletedEventAttributes"
  );
  if (task === undefined) {
    return {
      command: undefined,
      note:
        `no workflow task has completed up to event ${position}: start the workflow again instead`,
    };
  }
  if (run.workflowId === "") {
    return {
      command: undefined,
      note: "the history does not name its workflow id, which a reset needs",
    };
  }
  const eventId = Number(task.eventId);
  const parts = [
    "temporal workflow reset",
    `--workflow-id ${quoted(run.workflowId)}`,
    ...(run.runId === "" ? [] : [`--run-id ${quoted(run.runId)}`]),
    `--event-id ${eventId}`,
    `--reason ${quoted(`back to event ${position}`)}`,
    ...(run.namespace === undefined ? [] : [`--namespace ${quoted(run.namespace)}`]),
  ];
  return { command: parts.join(" "), eventId, note: NOTE };
}

const quoted = (text: string): string =>
  /^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
