// What a session shows at a position, for comparison with a session over the history up to there
// alone.
import { create, toBinary } from "@bufbuild/protobuf";
import type { DebugSession } from "../../ts/debug/mod.ts";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";

/** What a session shows at a position, but for what only later events can say. */
export function describePosition(session: DebugSession, position: number): unknown {
  const code = session.code!;
  const past = (eventId: number | undefined) =>
    eventId !== undefined && eventId <= position ? eventId : undefined;
  const { published, receive, open, outcome, messages } = session.viewAt(position);
  return {
    lines: code.files.map(({ index }) => {
      const { hits, inTask } = code.counts(index, position);
      return [[...hits], [...inTask]];
    }),
    parked: code.parked(position).map((each) => ({
      ...each,
      eventId: past(each.eventId),
      endedBy: past(each.endedBy),
    })),
    crossings: code.crossings(position),
    fibers: code.fibers.filter(({ from }) => from <= position).map((fiber) => ({
      ...fiber,
      to: past(fiber.to),
    })),
    causes: code.causes.filter(({ taskEventId }) => taskEventId <= position),
    logs: code.logs(position),
    changes: code.changes("published", ["count"], position),
    why: code.why(position).sentence,
    view: {
      published,
      receive,
      open,
      outcome: outcome && { ...outcome, eventId: past(outcome.eventId) },
      messages,
    },
  };
}

/** The bytes of the events that a position knows of. */
export function prefixFor(
  whole: DebugSession,
  events: readonly HistoryEvent[],
  position: number,
): Uint8Array {
  // What the task at the position wrote belongs to it: updates stand in history only after the task
  // that took them.
  const task = whole.tasks.findLast(({ eventId }) => eventId <= position);
  // That an attempt at a task failed is known at its start: what it did was thrown away.
  const failed = events.find(({ attributes: { case: kind, value } }) =>
    (kind === "workflowTaskFailedEventAttributes" ||
      kind === "workflowTaskTimedOutEventAttributes") &&
    Number(value.startedEventId) === position
  );
  const end = Math.max(position, task?.lastEventId ?? 0, Number(failed?.eventId ?? 0));
  return toBinary(HistorySchema, create(HistorySchema, { events: events.slice(0, end) }));
}
