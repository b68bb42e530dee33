// Findings about a history in sentences: the longest waits, failures, steps that never happened,
// open awaits.
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import { toShownFailure } from "../values.ts";
import { readEventValues } from "./event_values.ts";
import { formatTimeSpan } from "./span_text.ts";
import { eventTimeMs } from "./event_time.ts";
import type { Finding, RunFacts, RunItem, RunLimit } from "./types.ts";

/** The input of findings. */
export interface FindingSource {
  readonly events: readonly HistoryEvent[];
  readonly items: readonly RunItem[];
  readonly facts: RunFacts;
  readonly limits: readonly RunLimit[];
  itemOf(eventId: number): RunItem | undefined;
}

const MOST = 8;
/** A wait is reported if it takes this fraction of the run, and is not short. */
const PART = 0.2;
const BLINK_MS = 1000;

export function listFindings(source: FindingSource): Finding[] {
  return [
    ...endedRun(source),
    ...openRun(source),
    ...failingTasks(source),
    ...longestWait(source),
    ...failedActivities(source),
    ...neverFired(source),
    ...nearLimits(source),
  ].slice(0, MOST);
}

/**
 * Reports how the run ended if it did not complete: the failure with its causes, the reason, the
 * requester.
 */
function endedRun({ facts, events }: FindingSource): Finding[] {
  const last = events.at(-1);
  const end = (
    text: string,
  ): Finding[] => [{ kind: "run", text, eventId: Number(last?.eventId ?? 0) }];
  switch (facts.status) {
    case "Failed":
      return end(`The run **failed**${chainText(readEventValues(last!).failure)}.`);
    case "TimedOut":
      return end("The run **timed out**: it reached its run timeout or execution timeout.");
    case "Terminated": {
      const { reason = "", identity = "" } =
        last?.attributes.case === "workflowExecutionTerminatedEventAttributes"
          ? last.attributes.value
          : {};
      return end(
        `The run was **terminated**${identity === "" ? "" : ` by ${identity}`}${
          reason === "" ? "" : `: ${reason}`
        }.`,
      );
    }
    case "Cancelled":
      return end(`The run was **canceled**${causeOfCancel(events)}.`);
    default:
      return [];
  }
}

/** Maximum number of causes in a sentence. A chain of wrappers has two or three. */
const MOST_CAUSES = 5;

/** Formats causes: " with A: message, caused by B: message". */
function chainText(failure: Parameters<typeof toShownFailure>[0]): string {
  const parts: string[] = [];
  let at: ReturnType<typeof toShownFailure> | undefined = failure === undefined
    ? undefined
    : toShownFailure(failure);
  for (; at !== undefined && parts.length < MOST_CAUSES; at = at.cause) {
    const text = [
      at.type === ""
        ? ""
        : `**${at.type.replace(/^[a-z](?=\w*Failure$)/, (first) => first.toUpperCase())}**`,
      at.message.replace(/\.$/, ""),
    ].filter((part) => part !== "").join(": ");
    if (text !== "" && text !== parts.at(-1)) parts.push(text);
  }
  return parts.length === 0 ? "" : ` with ${parts.join(", caused by ")}`;
}

function causeOfCancel(events: readonly HistoryEvent[]): string {
  const asked = events.findLast(({ attributes }) =>
    attributes.case === "workflowExecutionCancelRequestedEventAttributes"
  );
  if (asked?.attributes.case !== "workflowExecutionCancelRequestedEventAttributes") return "";
  const { cause, identity } = asked.attributes.value;
  const by = identity === "" ? "" : `, as ${identity} requested`;
  return `${by}${cause === "" ? "" : `: ${cause}`}`;
}

function openRun({ facts, items }: FindingSource): Finding[] {
  if (facts.status !== "Running") return [];
  const open = items.filter(({ status, kind }) => status === "open" && kind !== "task");
  const task = items.findLast(({ kind }) => kind === "task");
  if (task?.status === "open") {
    const text = "A workflow task is scheduled or running: the run waits for a **worker**.";
    return [{ kind: "task", text, eventId: task.from }];
  }
  if (task?.status === "failed" || task?.status === "timedOut") {
    const how = task.status === "failed" ? "**failed**" : "**timed out**";
    const text =
      `The run is open, and its last workflow task ${how}: the service retries the task.`;
    return [{ kind: "task", text, eventId: task.closedBy ?? task.to }];
  }
  if (open.length === 0) {
    return [{
      kind: "run",
      text: "The run is open and has no pending work: it waits for a **signal** or an **update**.",
      eventId: 0,
    }];
  }
  const names = open.slice(0, 3).map(({ name, kind }) =>
    `${WORD[kind] ?? kind} **${name.replace(/^timer /, "")}**`
  );
  const more = open.length > 3 ? ` and ${open.length - 3} more` : "";
  const [first] = open;
  return [{
    kind: first!.kind,
    text: `The open run waits for ${names.join(", ")}${more}.`,
    eventId: first!.from,
  }];
}

const WORD: { readonly [kind: string]: string } = {
  activity: "activity",
  timer: "timer",
  child: "child",
  update: "update",
  external: "the response to",
  nexus: "Nexus operation",
};

/** Reports workflow tasks that failed one after another. */
function failingTasks({ items, events }: FindingSource): Finding[] {
  const tasks = items.filter(({ kind }) => kind === "task");
  const findings: Finding[] = [];
  for (let i = 0; i < tasks.length; i++) {
    let end = i;
    while (end < tasks.length && ["failed", "timedOut"].includes(tasks[end]!.status)) end++;
    if (end === i) continue;
    const last = tasks[end - 1]!;
    const { failure } = readEventValues(events[(last.closedBy ?? last.to) - 1]!);
    const why = failure === undefined
      ? "no worker responded in time"
      : toShownFailure(failure).message || "no reason is given";
    const times = end - i === 1 ? "once" : `**${end - i} times** in a row`;
    findings.push({
      kind: "task",
      text: `A workflow task failed ${times}: ${why}`,
      eventId: last.closedBy ?? last.to,
    });
    i = end;
  }
  return findings.toSorted((a, b) => b.eventId - a.eventId).slice(0, 2);
}

/** Reports the longest time without an event, and the event that ended it. */
function longestWait({ events, facts, itemOf }: FindingSource): Finding[] {
  const { startMs, endMs } = facts;
  if (startMs === undefined || endMs === undefined) return [];
  let longest = 0;
  let at = 0;
  for (let i = 1; i < events.length; i++) {
    const [before, after] = [eventTimeMs(events[i - 1]!), eventTimeMs(events[i]!)];
    if (before !== undefined && after !== undefined && after - before > longest) {
      [longest, at] = [after - before, i];
    }
  }
  const whole = endMs - startMs;
  // A workflow task is scheduled because of an event, for example an update that is recorded after
  // it.
  let ending = at + 1;
  while (
    ending < events.length &&
    events[ending - 1]!.attributes.case === "workflowTaskScheduledEventAttributes"
  ) {
    ending = events.findIndex(({ eventId }, i) =>
          i >= ending && itemOf(Number(eventId))?.kind !== "task"
        ) + 1 || events.length;
  }
  const item = itemOf(ending);
  if (longest < BLINK_MS || longest < whole * PART || item === undefined) return [];
  // Clocks of servers differ, and histories are edited: a part cannot be longer than the whole.
  if (longest > whole) {
    const text = `The times of the events are not in order: **${
      formatTimeSpan(longest)
    }** passed before this event.`;
    return [{ kind: "unknown", text, eventId: at + 1 }];
  }
  const parts = `**${formatTimeSpan(longest)}** of ${formatTimeSpan(whole)} passed`;
  const name = item.name.replace(/^timer /, "");
  const text = item.kind === "signal" || item.kind === "update"
    ? `${parts} before **${name}** was received.`
    : item.kind === "task"
    ? `${parts} before a worker took a workflow task.`
    : item.kind === "run"
    ? `${parts} before the run ended: it **${name}**.`
    : `${parts} in ${WORD[item.kind] ?? item.kind} **${name}**.`;
  return [{ kind: item.kind, text, eventId: ending }];
}

const FALLIBLE: ReadonlySet<string> = new Set([
  "activity",
  "localActivity",
  "child",
  "external",
  "nexus",
  "update",
]);

function failedActivities({ items, events }: FindingSource): Finding[] {
  return items
    .filter(({ kind, status }) =>
      FALLIBLE.has(kind) && ["failed", "timedOut", "terminated"].includes(status)
    )
    .slice(0, 3)
    .map((item) => {
      const { failure } = readEventValues(events[(item.closedBy ?? item.to) - 1]!);
      const { message, cause } = toShownFailure(failure);
      const why = cause?.message || message ||
        (item.status === "timedOut"
          ? "it timed out"
          : item.status === "terminated"
          ? "it was terminated"
          : "no reason is given");
      const took = item.startMs !== undefined && item.endMs !== undefined
        ? ` in ${formatTimeSpan(item.endMs - item.startMs)}`
        : "";
      const tries = item.attempt > 1
        ? `failed **${item.attempt} times**${took}. Only the last failure is recorded`
        : "failed";
      return {
        kind: item.kind,
        text: `**${item.name}** ${tries}: ${why}`,
        eventId: item.closedBy ?? item.to,
      };
    });
}

function neverFired({ items }: FindingSource): Finding[] {
  const canceled = items.filter(({ kind, status }) => kind === "timer" && status === "canceled");
  if (canceled.length === 0) return [];
  const [first] = canceled;
  const text = canceled.length === 1
    ? `The **${first!.name.replace(/^timer /, "")}** timer never fired: it was canceled.`
    : `**${canceled.length} timers** never fired: they were canceled.`;
  return [{ kind: "timer", text, eventId: first!.from }];
}

function nearLimits({ limits, facts, events }: FindingSource): Finding[] {
  const near = limits.filter(({ value, warns }) => value >= warns);
  return near.map(({ name, value, most, eventId }) => {
    const part = `${Math.round(value / most * 100)} %`;
    const text = name === "payload"
      ? `One value takes **${part}** of the server's size limit.`
      : `The history has **${part}** of the ${
        name === "events" ? "events" : "bytes"
      } that a server allows${facts.status === "Running" ? "; continue as new before" : ""}.`;
    return { kind: "run", text, eventId: eventId || events.length };
  });
}
