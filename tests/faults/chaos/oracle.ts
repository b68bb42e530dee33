// What must be true of a life whatever the network did: checked against the history on the server,
// the results that callers got, and the acknowledged reports of the worker.
import type { HistoryEvent } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { type Seen, STEPS, TIMERS } from "./program.ts";

/** What the callers of one life got. */
export interface Told {
  readonly result: Seen;
  /** Signals that were acknowledged, in order. */
  readonly notes: readonly number[];
  /** Update ids, and the results that their callers got. */
  readonly updates: ReadonlyMap<string, number>;
}

/** What the worker did. */
export interface Worked {
  /** Results that activities returned. */
  readonly executed: ReadonlySet<string>;
  /** Results whose report the service acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
}

const count = <T>(values: Iterable<T>) => {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
};
const json = (payloads: { data: Uint8Array }[] | undefined) =>
  JSON.parse(new TextDecoder().decode(payloads?.[0]?.data)) as unknown;

/** What is wrong with a life; nothing, if all is well. */
export function judge(
  id: string,
  events: readonly HistoryEvent[],
  told: Told,
  worked: Worked,
): string[] {
  const problems: string[] = [];
  const must = (what: string, is: unknown, wanted: unknown) => {
    const [a, b] = [JSON.stringify(is), JSON.stringify(wanted)];
    if (a !== b) problems.push(`${id}: ${what}: ${a} instead of ${b}`);
  };
  const once = (what: string, values: Iterable<unknown>) => {
    for (const [value, times] of count(values)) {
      if (times > 1) problems.push(`${id}: ${what} ${value} is recorded ${times} times`);
    }
  };
  const of = <C extends NonNullable<HistoryEvent["attributes"]["case"]>>(name: C) =>
    events.flatMap((event) =>
      event.attributes.case === name
        ? [event.attributes.value as Extract<HistoryEvent["attributes"], { case: C }>["value"]]
        : []
    );

  const scheduled = of("activityTaskScheduledEventAttributes");
  const completed = of("activityTaskCompletedEventAttributes");
  once("activity", scheduled.map((a) => a.activityId));
  once("completion of the activity of event", completed.map((a) => a.scheduledEventId));
  must("activities scheduled", scheduled.length, STEPS);
  const results = completed.map((a) => String(json(a.result?.payloads)));
  must("results in history and in the workflow", told.result.steps, results);
  must(
    "places of the results",
    results.map((r) => r.split("#")[0]).sort(),
    Array.from({ length: STEPS }, (_, i) => `${id}/${i}`),
  );
  for (const result of results) {
    if (!worked.executed.has(result)) problems.push(`${id}: no activity ever returned ${result}`);
  }
  for (const result of worked.acknowledged) {
    if (result.startsWith(`${id}/`) && !results.includes(result)) {
      problems.push(`${id}: the acknowledged result ${result} is lost`);
    }
  }

  const timers = of("timerStartedEventAttributes");
  once("timer", timers.map((t) => t.timerId));
  once("firing of timer", of("timerFiredEventAttributes").map((t) => t.timerId));
  must("timers", timers.length, TIMERS);

  const signals = of("workflowExecutionSignaledEventAttributes");
  const notes = signals.filter((s) => s.signalName === "note").map((s) => json(s.input?.payloads));
  must("signals in history", notes, told.notes);
  must("signals in the workflow", told.result.notes, told.notes);
  must("signals to finish", signals.length - notes.length, 1);

  const accepted = of("workflowExecutionUpdateAcceptedEventAttributes").map((u) =>
    u.acceptedRequest?.meta?.updateId
  );
  const completedUpdates = of("workflowExecutionUpdateCompletedEventAttributes");
  once("update", accepted);
  once("completion of update", completedUpdates.map((u) => u.meta?.updateId));
  must("updates", [...accepted].sort(), [...told.updates.keys()].sort());
  for (const { meta, outcome } of completedUpdates) {
    const value = outcome?.value.case === "success"
      ? json(outcome.value.value.payloads)
      : "a failure";
    must(`answer to update ${meta?.updateId}`, told.updates.get(meta?.updateId ?? ""), value);
  }

  must("completions", of("workflowExecutionCompletedEventAttributes").length, 1);
  return problems;
}
