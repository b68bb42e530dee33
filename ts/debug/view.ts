// The view of a session at one position: a pure function of the recording.
import type { HistoryEvent } from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import type { LogEntry } from "../executor/program/program.ts";
import { CommandKind } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { ReceiveState, WaitKind } from "../executor/program/snapshot.ts";
import type { RecordedCommand } from "../executor/tasks/recording.ts";
import { commandKeys } from "./command_keys.ts";
import { type CommandNames, commandNames } from "./command_names.ts";
import type { CommandView } from "./command_decoders.ts";
import { decodeCommand } from "./commands.ts";
import type { EventLine } from "./events.ts";
import { messagesAt, type MessageView } from "./messages.ts";
import { eventTimeMs, toMilliseconds } from "./run/event_time.ts";
import type { SessionProblem } from "./problem.ts";
import type { SessionData, SessionTask, TaskLine } from "./session_data.ts";
import { countWhile, OpenSpans, valueAt } from "./spans.ts";
import { readPayload, type Shown, type ShownFailure, toShownFailure } from "./values.ts";

/** An await on which workflow code is blocked. */
export interface OpenAwait {
  readonly kind: WaitKind;
  /** Readable description: `activity "charge"`. */
  readonly label: string;
  /** The function that waits: `run of workflow "Cart"`, `branch 2 of parallel in ...`. */
  readonly fiber: string;
  /** The line in user code, "function (file:line:column)"; "" if unknown. */
  readonly site: string;
  /** Sequence number of its command; 0: no command. */
  readonly seq: number;
  /** The event of its command; undefined: no event, or not yet at this position. */
  readonly eventId: number | undefined;
  /**
   * The event that resolves the await, if it has happened: the code receives it in its next task.
   */
  readonly endedBy: number | undefined;
  /**
   * The task completed without an event for this command, so nothing in the recorded run can
   * resolve the await.
   */
  readonly isNotInHistory?: boolean;
  /** When the timer is due, in milliseconds since the epoch. */
  readonly firesAtMs?: number;
  /** Arguments of an activity, child or signal. */
  readonly arguments?: readonly unknown[];
}

/** How the run ended. */
export interface OutcomeView {
  readonly kind:
    | "completed"
    | "failed"
    | "cancelled"
    | "continuedAsNew"
    | "terminated"
    | "timedOut";
  /** The result, or the arguments of the next run. */
  readonly value?: unknown;
  /** Set if the run failed. */
  readonly failure?: ShownFailure;
  /** The event of the outcome; undefined if the code ends here and the history does not. */
  readonly eventId: number | undefined;
}

/** The view of a session at one position. */
export interface SessionView {
  /** ID of the last event that has happened. */
  readonly position: number;
  /** Number of events. */
  readonly length: number;
  /** The event at the position. */
  readonly event: EventLine;
  /** The last workflow task that was executed; undefined before the first. */
  readonly task: TaskLine | undefined;
  /** The position is within that task's own events, which record what the code just did. */
  readonly isInTask: boolean;
  /** Commands that the code issued in that task, in order. */
  readonly commands: readonly CommandView[];
  /**
   * The last published state, and the event of the task that published it; undefined before the
   * first.
   */
  readonly published: (Shown & { readonly sinceEventId: number }) | undefined;
  /**
   * Number of awaits of workflow functions that were passed, as in SQL (`phase`); undefined for
   * programs that do not count them.
   */
  readonly phase: number | undefined;
  /** The open awaits, in order of creation. */
  readonly open: readonly OpenAwait[];
  /** The messages that the code can receive now; undefined outside of a receive. */
  readonly receive: ReceiveState | undefined;
  /** Signals, updates and cancel requests so far, in order of arrival. */
  readonly messages: readonly MessageView[];
  /** Log lines so far, each with the event of its task. */
  readonly logs: readonly (LogEntry & { readonly eventId: number })[];
  /** How the run ended; undefined before its end. */
  readonly outcome: OutcomeView | undefined;
  /**
   * The code diverged from the history at or before this position, or failed. All fields except
   * events then show the state at that point.
   */
  readonly problem: SessionProblem | undefined;
}

export function viewAt(data: SessionData, position: number): SessionView {
  const { tasks, trace, lines, problem } = data;
  const task = tasks[countWhile(tasks.length, (i) => tasks[i]!.eventId <= position) - 1];
  const at = task?.last ?? -1;
  const published = valueAt(trace.published, at);
  return {
    position,
    length: lines.length,
    event: lines[position - 1]!,
    task: task &&
      {
        index: task.index,
        eventId: task.eventId,
        lastEventId: task.lastEventId,
        timeMs: task.timeMs,
      },
    isInTask: task !== undefined && position <= task.lastEventId,
    commands: task === undefined ? [] : data.cache.commandsOf(data, task),
    published: published?.value === undefined ? undefined : {
      ...readPayload(published.value, data.converter),
      sinceEventId: data.activations[published.from]?.startedEventId ?? 0,
    },
    phase: valueAt(trace.phases ?? [], at)?.value,
    open: openAt(data, at, position).map(({ index: _, ...open }) => open),
    receive: valueAt(trace.receives, at)?.value,
    messages: messagesAt(data, at, position),
    logs: data.cache.logsUpTo(data, at),
    outcome: outcomeAt(data, task, position),
    problem: problem !== undefined && position >= problem.position ? problem : undefined,
  };
}

/**
 * Decoded values that many positions share: decoding a task of a thousand commands takes
 * milliseconds.
 */
export class ViewCache {
  readonly #commands = new Map<number, readonly CommandView[]>();
  readonly #waits: WaitFacts[] = [];
  #names: CommandNames | undefined;
  #open: OpenSpans | undefined;
  #logs: SessionView["logs"] | undefined;
  #keys: ReadonlyMap<RecordedCommand, string> | undefined;

  namesOf({ activations, events, converter, trace }: SessionData): CommandNames {
    return this.#names ??= commandNames(activations, trace.jobs, events[0], converter);
  }

  /** Returns the commands of a task, each with its event. */
  commandsOf(data: SessionData, task: SessionTask): readonly CommandView[] {
    const { activations, links, converter } = data;
    let views = this.#commands.get(task.index);
    if (views === undefined) {
      const names = this.namesOf(data);
      const keys = this.#keys ??= commandKeys(activations);
      const own = activations.slice(task.first, task.last + 1).flatMap(({ commands }) => commands);
      // Waiting for a transact is a separate command without an event.
      views = own.filter(({ kind }) => kind !== CommandKind.COMMAND_KIND_AWAIT_TRANSACT).map(
        (command) => {
          const { kind, summary, attributes, key } = decodeCommand(command, converter, names);
          return {
            kind,
            summary,
            seq: command.seq,
            attributes,
            site: command.site,
            eventId: links.byKey.get(keys.get(command) ?? key),
            ...(data.extraCommands.has(command) && { isNotInHistory: true }),
          };
        },
      );
      this.#commands.set(task.index, views);
    }
    return views;
  }

  /** Returns the indices of the waits that are pending after an activation. */
  waitsAt({ trace: { waits } }: SessionData, at: number): readonly number[] {
    this.#open ??= new OpenSpans(
      waits.length,
      (i) => waits[i]!.from,
      (i) => waits[i]!.to ?? Infinity,
    );
    return this.#open.at(at);
  }

  /** Returns the log entries up to an activation. */
  logsUpTo({ trace: { logs }, activations }: SessionData, at: number): SessionView["logs"] {
    const all = this.#logs ??= logs.map(({ from, value }) => ({
      ...value,
      eventId: activations[from]?.startedEventId ?? 0,
    }));
    return all.slice(0, countWhile(logs.length, (i) => logs[i]!.from <= at));
  }

  /** Returns what is known of a wait, by its index in the trace. */
  factsOf(
    { trace, activations, links, converter, events, extraCommands }: SessionData,
    index: number,
  ): WaitFacts {
    if (this.#waits.length === 0) {
      const commands = new Map<
        string,
        { readonly command: RecordedCommand; readonly timeMs: number }
      >();
      for (const { commands: issued, timeMs } of activations) {
        for (const command of issued) {
          if (!command.cancel) {
            commands.set(`${command.kind} ${command.seq}`, { command, timeMs });
          }
        }
      }
      const keys = this.#keys ??= commandKeys(activations);
      for (const { value: { kind, seq } } of trace.waits) {
        const found = seq === 0
          ? undefined
          : commands.get(`${COMMAND_OF[kind] ?? START_TIMER} ${seq}`);
        if (found === undefined) {
          this.#waits.push({ eventId: undefined, endedBy: undefined, isExtra: false, more: {} });
          continue;
        }
        const { key: own, attributes: { durationMs, arguments: args } } = decodeCommand(
          found.command,
          converter,
        );
        const key = keys.get(found.command) ?? own;
        const eventId = links.byKey.get(key);
        this.#waits.push({
          eventId,
          isExtra: extraCommands.has(found.command),
          endedBy:
            (kind === "childStart" || kind === "nexusStart" ? links.startOf.get(key) : undefined) ??
              links.endOf.get(key),
          more: {
            ...(typeof durationMs === "number"
              ? { firesAtMs: dueTime(events[(eventId ?? 0) - 1]) ?? found.timeMs + durationMs }
              : {}),
            ...(Array.isArray(args) ? { arguments: args } : {}),
          },
        });
      }
    }
    return this.#waits[index]!;
  }
}

/**
 * Returns when a recorded timer is due. The server counts from the event, with the recorded
 * duration, which may differ from the one in the current code.
 */
function dueTime(event: HistoryEvent | undefined): number | undefined {
  if (event?.attributes.case !== "timerStartedEventAttributes") return undefined;
  const startedMs = eventTimeMs(event);
  const lastsMs = toMilliseconds(event.attributes.value.startToFireTimeout);
  return startedMs === undefined || lastsMs === undefined ? undefined : startedMs + lastsMs;
}

interface WaitFacts {
  readonly eventId: number | undefined;
  readonly endedBy: number | undefined;
  readonly isExtra: boolean;
  readonly more: Pick<OpenAwait, "firesAtMs" | "arguments">;
}

export function openAt(
  data: SessionData,
  at: number,
  position: number,
): (OpenAwait & { readonly index: number })[] {
  const past = (eventId: number | undefined) =>
    eventId !== undefined && eventId <= position ? eventId : undefined;
  return data.cache.waitsAt(data, at).flatMap((index) => {
    const { value } = data.trace.waits[index]!;
    // Completed and not awaited: the step is in the commands, and no code waits for it.
    if (value.kind === "transact" && !data.cache.namesOf(data).awaited.has(value.seq)) return [];
    const { eventId, endedBy, isExtra, more } = data.cache.factsOf(data, index);
    const extra = isExtra
      ? { isNotInHistory: true, label: `${value.label} (not in the history)` }
      : {};
    return [{ ...value, index, eventId: past(eventId), endedBy: past(endedBy), ...extra, ...more }];
  });
}

const START_TIMER = CommandKind.COMMAND_KIND_START_TIMER;
/** The command of a wait. */
const COMMAND_OF: { readonly [kind in WaitKind]?: CommandKind } = {
  activity: CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY,
  localActivity: CommandKind.COMMAND_KIND_SCHEDULE_LOCAL_ACTIVITY,
  transact: CommandKind.COMMAND_KIND_TRANSACT,
  childStart: CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW,
  childWorkflow: CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW,
  nexusStart: CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION,
  nexusOperation: CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION,
  externalSignal: CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW,
  externalCancel: CommandKind.COMMAND_KIND_CANCEL_EXTERNAL_WORKFLOW,
};

const ENDS: { readonly [kind: string]: OutcomeView["kind"] } = {
  CompleteWorkflow: "completed",
  FailWorkflow: "failed",
  CancelWorkflow: "cancelled",
  ContinueAsNew: "continuedAsNew",
};

function outcomeAt(
  data: SessionData,
  task: SessionTask | undefined,
  position: number,
): OutcomeView | undefined {
  const last = task === undefined
    ? undefined
    : data.cache.commandsOf(data, task).findLast(({ kind }) => kind in ENDS);
  if (last !== undefined) {
    const { result, failure, arguments: args } = last.attributes;
    return {
      kind: ENDS[last.kind]!,
      ...(failure === undefined ? {} : { failure: failure as ShownFailure }),
      ...(result === undefined && args === undefined ? {} : { value: result ?? args }),
      eventId: last.eventId,
    };
  }
  const { attributes, eventId } = data.events.at(-1)!;
  if (position < Number(eventId)) return undefined;
  switch (attributes.case) {
    case "workflowExecutionTerminatedEventAttributes":
      return { kind: "terminated", value: attributes.value.reason, eventId: Number(eventId) };
    case "workflowExecutionTimedOutEventAttributes":
      return { kind: "timedOut", eventId: Number(eventId) };
    // The history ends here and the code does not: a divergence that a replay of whole tasks may
    // not detect.
    case "workflowExecutionFailedEventAttributes":
      return {
        kind: "failed",
        failure: toShownFailure(attributes.value.failure),
        eventId: Number(eventId),
      };
    default:
      return undefined;
  }
}
