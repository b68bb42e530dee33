// What happens to a run from outside, decided step by step from a list of happenings and what is
// open at the time; and at which events of a history a replay may end.
import { ApplicationFailure } from "../../ts/workflow/mod.ts";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { HistoryEvent } from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { failByResult, timeOutProcedure } from "./mini_procedures.ts";
import type { MiniServer } from "./mini_server.ts";
import type { Happening } from "./random_programs.ts";

/** A happening with its choice made. */
export type Concrete =
  | { kind: "signal"; name: string; n: number }
  | { kind: "update"; id: string; name: string; n: number }
  | { kind: "timer"; id: string }
  // `cancelled`: the workflow has canceled it, so its result is ignored.
  | {
    kind: "activity";
    id: string;
    fails: boolean;
    cancelled: boolean;
    ends?: "times out" | "fails by its result";
  }
  | { kind: "cancel" };

/** What happens to the run in its current state, or undefined if it cannot happen. */
export function choose(
  server: MiniServer,
  happening: Happening,
  index: number,
): Concrete | undefined {
  const { timers, activities } = server;
  const nth = <T>(keys: Iterable<T>, pick: number): T | undefined => {
    const all = [...keys];
    return all[pick % Math.max(1, all.length)];
  };
  switch (happening.kind) {
    case "timer": {
      const id = nth(timers.keys(), happening.pick);
      return id === undefined ? undefined : { kind: "timer", id };
    }
    case "activity": {
      const id = nth(activities.keys(), happening.pick);
      if (id === undefined) return undefined;
      const { type, cancelRequested } = activities.get(id)!;
      const ends = type.startsWith("procedure:") && happening.ends !== undefined
        ? { ends: happening.ends }
        : {};
      return { kind: "activity", id, fails: happening.fails, cancelled: cancelRequested, ...ends };
    }
    case "update":
      return { ...happening, id: `update-${index}` };
    default:
      return happening;
  }
}

export function isPossible(server: MiniServer, event: Concrete): boolean {
  if (event.kind === "timer") return server.timers.has(event.id);
  return event.kind !== "activity" || server.activities.has(event.id);
}

/** `result`: what an activity returns. */
export function happen(server: MiniServer, event: Concrete, result: unknown = undefined): void {
  switch (event.kind) {
    case "signal":
      return server.signal(event.name, event.n);
    case "update":
      return void server.update(event.id, event.name, event.n);
    case "timer":
      return server.fireTimer(event.id);
    case "activity":
      if (event.ends === "times out") return timeOutProcedure(server, event.id);
      if (event.ends === "fails by its result") {
        return failByResult(server, event.id, new RangeError(`no ${event.id}`));
      }
      if (event.fails) {
        return server.failActivity(event.id, new ApplicationFailure(`activity ${event.id} failed`));
      }
      return server.completeActivity(event.id, result ?? `result ${event.id}`);
    case "cancel":
      return server.requestCancel("enough");
  }
}

/** When the life is over: lets everything end, by stops, oldest timers and activities. */
export const LAST: readonly Happening[] = [
  { kind: "activity", pick: 0, fails: false },
  { kind: "timer", pick: 0 },
  { kind: "signal", name: "a", n: 0 },
  { kind: "signal", name: "b", n: 0 },
  { kind: "signal", name: "stop", n: 0 },
];

/** Written by the completion of a workflow task. */
function isOfTask(event: HistoryEvent | undefined): boolean {
  if (event === undefined) return false;
  if (event.eventType === EventType.WORKFLOW_TASK_COMPLETED) return true;
  if (event.eventType === EventType.WORKFLOW_EXECUTION_UPDATE_ACCEPTED) return true;
  if (event.eventType === EventType.WORKFLOW_EXECUTION_UPDATE_COMPLETED) return true;
  return "workflowTaskCompletedEventId" in (event.attributes.value ?? {});
}

/**
 * The open task at the end of the first `i` events was given updates, which are in its messages and
 * not in this history.
 */
function takesUpdates(events: readonly HistoryEvent[], i: number): boolean {
  for (const event of events.slice(i)) {
    if (!isOfTask(event)) return false;
    if (event.eventType === EventType.WORKFLOW_EXECUTION_UPDATE_ACCEPTED) return true;
  }
  return false;
}

/**
 * Lengths of the prefixes of a history that end where a history may: at a started task, or after
 * all that a completed one caused.
 */
export function endsOfReplay(events: readonly HistoryEvent[]): number[] {
  const ends: number[] = [];
  for (let i = 3; i <= events.length; i++) {
    const last = events[i - 1]!;
    const complete = last.eventType === EventType.WORKFLOW_TASK_STARTED ||
      (isOfTask(last) && !isOfTask(events[i]));
    if (complete && !takesUpdates(events, i)) ends.push(i);
  }
  return ends;
}
