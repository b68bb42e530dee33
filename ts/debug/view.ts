// Everything that a session shows at one position: a pure function of what the replay wrote down.
import type { HistoryEvent } from "../api/generated/temporal/api/history/v1/message_pb.ts";
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
import { toMilliseconds } from "./run/event_time.ts";
import type { SessionProblem } from "./problem.ts";
import type { SessionData, SessionTask, TaskLine } from "./session_data.ts";
import { countWhile, OpenSpans, valueAt } from "./spans.ts";
import { type Shown, shown, type ShownFailure, shownFailure } from "./values.ts";

/** Something that workflow code is parked on. */
export interface OpenAwait {
  /** What it waits for. */
  readonly kind: WaitKind;
  /** For people: `activity "charge"`. */
  readonly label: string;
  /** Which function waits: `run of workflow "Cart"`, `branch 2 of parallel in ...`. */
  readonly fiber: string;
  /** The user's line, "function (file:line:column)"; "" when not known. */
  readonly site: string;
  /** Seq of its command; 0: none. */
  readonly seq: number;
  /** The event of its command; undefined: none, or not yet at this position. */
  readonly eventId: number | undefined;
  /** An event that has happened and ends it: the code is told in its next task. */
  readonly endedBy: number | undefined;
  /** The history has no event for its command, though it completed the task: nothing in the recorded run can end this wait. */
  readonly isNotInHistory?: boolean;
  /** Of a timer: when it is due, in milliseconds since the epoch. */
  readonly firesAtMs?: number;
  /** Of an activity, a child or a signal: its arguments. */
  readonly arguments?: readonly unknown[];
}

/** How the run ended. */
export interface OutcomeView {
  /** The way it ended. */
  readonly kind: "completed" | "failed" | "cancelled" | "continuedAsNew" | "terminated" | "timedOut";
  /** Its result, or the arguments of the next run. */
  readonly value?: unknown;
  /** Why it failed. */
  readonly failure?: ShownFailure;
  /** The event that says so; undefined where the code ends here and history does not. */
  readonly eventId: number | undefined;
}

/** Everything that a session shows at one position. */
export interface SessionView {
  /** Id of the last event that has happened. */
  readonly position: number;
  /** Number of events. */
  readonly length: number;
  /** The event at the position. */
  readonly event: EventLine;
  /** The last workflow task that has been run; undefined before the first. */
  readonly task: TaskLine | undefined;
  /** The position lies within that task's own events: what follows is what the code did just now. */
  readonly isInTask: boolean;
  /** What the code issued in that task, in order. */
  readonly commands: readonly CommandView[];
  /** The last published state, and the event of the task that published it; undefined before the first. */
  readonly published: (Shown & { readonly sinceEventId: number }) | undefined;
  /** How many awaits of workflow functions have been passed, as SQL shows it (`phase`); undefined for programs that do not count them. */
  readonly phase: number | undefined;
  /** What the code is parked on, in order of creation. */
  readonly open: readonly OpenAwait[];
  /** The messages that it takes where it stands; undefined outside of a receive. */
  readonly receive: ReceiveState | undefined;
  /** Signals, updates and cancel requests so far, in order of arrival. */
  readonly messages: readonly MessageView[];
  /** Log lines so far. */
  readonly logs: readonly (LogEntry & { readonly eventId: number })[];
  /** How the run ended; undefined before its end. */
  readonly outcome: OutcomeView | undefined;
  /** The code has left history's path at or before this position, or failed: what is shown besides events is where it stood then. */
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
    task: task && { index: task.index, eventId: task.eventId, lastEventId: task.lastEventId, timeMs: task.timeMs },
    isInTask: task !== undefined && position <= task.lastEventId,
    commands: task === undefined ? [] : data.cache.commandsOf(data, task),
    published: published?.value === undefined ? undefined : {
      ...shown(published.value, data.converter),
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

/** What is decoded once and shown at many positions: a task of a thousand commands would cost milliseconds at each of its events. */
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

  /** The commands of a task, each with its event. */
  commandsOf(data: SessionData, task: SessionTask): readonly CommandView[] {
    const { activations, links, converter } = data;
    let views = this.#commands.get(task.index);
    if (views === undefined) {
      const names = this.namesOf(data);
      const keys = this.#keys ??= commandKeys(activations);
      const own = activations.slice(task.first, task.last + 1).flatMap(({ commands }) => commands);
      // That code waits for a transact is a word beside it, and no event.
      views = own.filter(({ kind }) => kind !== CommandKind.COMMAND_KIND_AWAIT_TRANSACT).map((command) => {
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
      });
      this.#commands.set(task.index, views);
    }
    return views;
  }

  /** Indices of the trace's waits that pend after an activation. */
  waitsAt({ trace: { waits } }: SessionData, at: number): readonly number[] {
    this.#open ??= new OpenSpans(waits.length, (i) => waits[i]!.from, (i) => waits[i]!.to ?? Infinity);
    return this.#open.at(at);
  }

  /** What was logged by the end of an activation. */
  logsUpTo({ trace: { logs }, activations }: SessionData, at: number): SessionView["logs"] {
    const all = this.#logs ??= logs.map(({ from, value }) => ({
      ...value,
      eventId: activations[from]?.startedEventId ?? 0,
    }));
    return all.slice(0, countWhile(logs.length, (i) => logs[i]!.from <= at));
  }

  /** What a wait of the trace stands for; by its index. */
  factsOf({ trace, activations, links, converter, events, extraCommands }: SessionData, index: number): WaitFacts {
    if (this.#waits.length === 0) {
      const commands = new Map<string, { readonly command: RecordedCommand; readonly timeMs: number }>();
      for (const { commands: issued, timeMs } of activations) {
        for (const command of issued) if (!command.cancel) commands.set(`${command.kind} ${command.seq}`, { command, timeMs });
      }
      const keys = this.#keys ??= commandKeys(activations);
      for (const { value: { kind, seq } } of trace.waits) {
        const found = seq === 0 ? undefined : commands.get(`${COMMAND_OF[kind] ?? START_TIMER} ${seq}`);
        if (found === undefined) {
          this.#waits.push({ eventId: undefined, endedBy: undefined, isExtra: false, more: {} });
          continue;
        }
        const { key: own, attributes: { durationMs, arguments: args } } = decodeCommand(found.command, converter);
        const key = keys.get(found.command) ?? own;
        const eventId = links.byKey.get(key);
        this.#waits.push({
          eventId,
          isExtra: extraCommands.has(found.command),
          endedBy: (kind === "childStart" || kind === "nexusStart" ? links.startOf.get(key) : undefined) ?? links.endOf.get(key),
          more: {
            ...(typeof durationMs === "number"
              ? { firesAtMs: found.timeMs + (startedFor(events[(eventId ?? 0) - 1]) ?? durationMs) }
              : {}),
            ...(Array.isArray(args) ? { arguments: args } : {}),
          },
        });
      }
    }
    return this.#waits[index]!;
  }
}

/** What a timer was started with: the code may say something else today. */
const startedFor = (event: HistoryEvent | undefined): number | undefined =>
  event?.attributes.case === "timerStartedEventAttributes"
    ? toMilliseconds(event.attributes.value.startToFireTimeout)
    : undefined;

interface WaitFacts {
  readonly eventId: number | undefined;
  readonly endedBy: number | undefined;
  readonly isExtra: boolean;
  readonly more: Pick<OpenAwait, "firesAtMs" | "arguments">;
}

export function openAt(data: SessionData, at: number, position: number): (OpenAwait & { readonly index: number })[] {
  const past = (eventId: number | undefined) => eventId !== undefined && eventId <= position ? eventId : undefined;
  return data.cache.waitsAt(data, at).flatMap((index) => {
    const { value } = data.trace.waits[index]!;
    // Done and forgotten: it is in the commands, and nothing stands there.
    if (value.kind === "transact" && !data.cache.namesOf(data).awaited.has(value.seq)) return [];
    const { eventId, endedBy, isExtra, more } = data.cache.factsOf(data, index);
    const extra = isExtra ? { isNotInHistory: true, label: `${value.label} (not in the history)` } : {};
    return [{ ...value, index, eventId: past(eventId), endedBy: past(endedBy), ...extra, ...more }];
  });
}

const START_TIMER = CommandKind.COMMAND_KIND_START_TIMER;
/** The command that a wait stands for. */
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

function outcomeAt(data: SessionData, task: SessionTask | undefined, position: number): OutcomeView | undefined {
  const last = task === undefined ? undefined : data.cache.commandsOf(data, task).findLast(({ kind }) => kind in ENDS);
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
    // The code does not end here, but history does: a divergence that a replay of whole tasks may not see.
    case "workflowExecutionFailedEventAttributes":
      return { kind: "failed", failure: shownFailure(attributes.value.failure), eventId: Number(eventId) };
    default:
      return undefined;
  }
}
