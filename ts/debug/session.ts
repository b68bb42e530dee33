// A debug session: replays the history of one run once, with the current code in a realm, then
// steps through the recording in both directions.
//
// The replay records for each task which jobs the code received, which commands it issued, and
// where it waited. Replaying any prefix gives the same result (promise P3), so the recording is
// valid at every position, and a step in either direction is a look-up. Nothing here can affect the
// run.
//
// A position is the ID of an event: events 1..N have happened, and every workflow task that started
// among them has been executed.
import { create, toBinary } from "@bufbuild/protobuf";
import type { PayloadCodec } from "../codec/codec.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { RecordedActivation } from "../executor/tasks/recording.ts";
import type { ReplayOptions, ReplayVerdict } from "../executor/tasks/replay.ts";
import type { ReplayTrace } from "../executor/tasks/replay_trace.ts";
import {
  type HistoryEvent,
  HistorySchema,
} from "../messages/generated/temporal/api/history/v1/message_pb.ts";
import { SessionCode } from "./code/session_code.ts";
import { findChangedValues } from "./divergence/changed.ts";
import type { ChangedValue } from "./divergence/types.ts";
import type { EventLinks } from "./event_links.ts";
import type { EventLine } from "./events.ts";
import type { HistoryFile } from "../history_files/history_file.ts";
import { commandsNotInHistory, type NotInHistory } from "./not_in_history.ts";
import { type PreparedHistory, prepareHistory } from "./prepared_history.ts";
import { type SessionProblem, sessionProblem } from "./problem.ts";
import type { SessionData, SessionTask, TaskLine } from "./session_data.ts";
import { toPlainEvent } from "./values.ts";
import { type SessionView, viewAt, ViewCache } from "./view.ts";

export type { TaskLine } from "./session_data.ts";

/** A realm of `temporalex/realm`, or another implementation that replays histories. */
export interface ReplayingRealm {
  /** Names of the workflows that the realm has code for. */
  readonly workflowTypes: readonly string[];
  /** The realm has code for every type, including types that `workflowTypes` does not list. */
  readonly takesAnyType?: boolean;
  /** Replays a history (bytes of temporal.api.history.v1.History) without a reporter. */
  replay(workflowId: string, history: Uint8Array, options?: ReplayOptions): Promise<ReplayVerdict>;
}

/** Options of a debug session. */
export interface SessionOptions {
  /**
   * The realm with the workflow code. Use a worker realm, which has the determinism guard and the
   * watchdog; an inline realm is sufficient for tests.
   */
  readonly realm: ReplayingRealm;
  /** The codecs that encoded the run's payloads. The history is decoded first, in memory. */
  readonly codec?: PayloadCodec | readonly PayloadCodec[];
  /** Decodes the payloads that are shown. Default: Temporal's default encodings. */
  readonly converter?: PayloadConverter;
  /**
   * Also records which lines ran and the values of variables, for `DebugSession.code`. The realm
   * must have been created with `lines`. Default: the realm's setting.
   */
  readonly lines?: boolean;
  /** Also reports extra commands and swapped update IDs as problems. */
  readonly strict?: boolean;
}

/** The realm has no code for the workflow type of the history. */
export class UnknownWorkflowTypeError extends Error {
  override name = "UnknownWorkflowTypeError";
  /** The workflow type of the history. */
  readonly workflowType: string;
  /** The types that the realm has code for. */
  readonly workflowTypes: readonly string[];

  constructor(workflowType: string, workflowTypes: readonly string[]) {
    const known = workflowTypes.length === 0 ? "none" : workflowTypes.join(", ");
    super(
      `this is a history of workflow "${workflowType}", but the code has no such workflow (it has: ${known})`,
    );
    this.workflowType = workflowType;
    this.workflowTypes = workflowTypes;
  }
}

const NO_TRACE: ReplayTrace = {
  jobs: [],
  waits: [],
  published: [],
  receives: [],
  buffered: [],
  logs: [],
};

/**
 * Opens a session for a history in any exported format, or for a prepared one, whose codec and
 * converter then apply. Rejects with a HistoryFileError if the file contains no history, an
 * UnknownWorkflowTypeError, or a PayloadCodecError. A history that the code does not reproduce
 * opens; see `DebugSession.problem`.
 */
export async function openSession(
  file: Uint8Array | PreparedHistory,
  options: SessionOptions,
): Promise<DebugSession> {
  const { realm, strict = false, lines = true } = options;
  const { file: history, bytes, events, links, converter, lines: shown } =
    file instanceof Uint8Array ? await prepareHistory(file, options) : file;
  if (realm.takesAnyType !== true && !realm.workflowTypes.includes(history.workflowType)) {
    throw new UnknownWorkflowTypeError(history.workflowType, realm.workflowTypes);
  }
  const verdict = await replay(realm, history.workflowId, bytes, events, links, { strict, lines });
  const activations = verdict.recorded ?? [];
  const tasks = listTasks(activations, verdict.trace ?? NO_TRACE, links);
  const { jobs } = verdict.trace ?? NO_TRACE;
  const notInHistory = commandsNotInHistory(verdict, events, {
    activations: activations.slice(0, endOfTasks(activations, jobs)),
    jobs,
  });
  const data: SessionData = {
    events,
    lines: shown,
    links,
    tasks,
    activations,
    trace: verdict.trace ?? NO_TRACE,
    problem: sessionProblem(verdict, tasks, events.length),
    notInHistory,
    extraCommands: new Set(notInHistory.map(({ command }) => command)),
    converter,
    cache: new ViewCache(),
  };
  return new DebugSession(history, verdict, data);
}

/**
 * Replays the whole history. If the code of a task never returns, the result has the recording of
 * the tasks before it.
 */
async function replay(
  realm: ReplayingRealm,
  workflowId: string,
  history: Uint8Array,
  events: readonly HistoryEvent[],
  links: EventLinks,
  asked: { readonly strict: boolean; readonly lines: boolean },
): Promise<ReplayVerdict> {
  const options = { ...asked, record: true, trace: true, callSites: "always" } as const;
  const verdict = await realm.replay(workflowId, history, options);
  const lostAt = verdict.trace === undefined ? verdict.error?.eventId ?? 0 : 0;
  const before = [...links.lastOfTask].findLast(([started]) => started < lostAt);
  if (before === undefined) return verdict;
  const prefix = create(HistorySchema, { events: events.slice(0, before[1]) });
  const { recorded, trace } = await realm.replay(
    workflowId,
    toBinary(HistorySchema, prefix),
    options,
  );
  return {
    ...verdict,
    ...(recorded === undefined ? {} : { recorded }),
    ...(trace === undefined ? {} : { trace }),
  };
}

/** Groups activations by task. Most tasks have one activation; some have several. */
function listTasks(
  activations: readonly RecordedActivation[],
  { jobs }: ReplayTrace,
  links: EventLinks,
): SessionTask[] {
  const tasks: (SessionTask & { last: number })[] = [];
  const end = endOfTasks(activations, jobs);
  activations.slice(0, end).forEach(({ startedEventId: eventId, timeMs, queryOnly }, i) => {
    if (queryOnly) return;
    const before = tasks.at(-1);
    if (before?.eventId === eventId) before.last = i;
    else {
      const lastEventId = links.lastOfTask.get(eventId) ?? eventId;
      tasks.push({ index: tasks.length, eventId, lastEventId, timeMs, first: i, last: i });
    }
  });
  return tasks;
}

/**
 * Returns the number of activations that belong to tasks. The replay also applies events after the
 * last task, to check that the code accepts them. The history has no task that delivered them, so
 * no position shows their effects, which may take several activations.
 */
function endOfTasks(activations: readonly RecordedActivation[], jobs: ReplayTrace["jobs"]): number {
  const started = activations.at(-1)?.startedEventId ?? 0;
  const first = activations.findIndex(({ startedEventId, historyLength }, i) => {
    if (startedEventId !== started || historyLength <= started) return false;
    // A task without commands is delivered together with the events after it: the task begins with
    // its own jobs.
    const told = jobs[i]?.find(({ eventId }) => eventId > 0);
    return told !== undefined && told.eventId > started;
  });
  return first < 0 ? activations.length : first;
}

/**
 * A history to step through. Navigation is synchronous, and a position always has the same view.
 */
export class DebugSession {
  /** From the first event. */
  readonly workflowType: string;
  /** "" if the history does not contain it. */
  readonly workflowId: string;
  /** The run ID of the history. */
  readonly runId: string;
  /** Notable changes that were made to read the file. */
  readonly notes: readonly string[];
  /** The verdict of the replay of the whole history. */
  readonly verdict: ReplayVerdict["verdict"];
  readonly warnings: ReplayVerdict["warnings"];
  /** What is known of each line of code; undefined if the realm was created without `lines`. */
  readonly code: SessionCode | undefined;
  readonly #data: SessionData;
  #position = 1;
  #view: SessionView | undefined;
  #changed: readonly ChangedValue[] | undefined;

  constructor(history: HistoryFile, verdict: ReplayVerdict, data: SessionData) {
    this.workflowType = history.workflowType;
    this.workflowId = history.workflowId;
    this.runId = history.runId;
    this.notes = history.notes;
    this.verdict = verdict.verdict;
    this.warnings = verdict.warnings;
    this.#data = data;
    const { lines } = data.trace;
    this.code = lines === undefined ? undefined : new SessionCode(data, lines);
  }

  /** All events, oldest first. */
  get events(): readonly EventLine[] {
    return this.#data.lines;
  }

  /** The workflow tasks that the code executed, in order. */
  get tasks(): readonly TaskLine[] {
    return this.#data.tasks;
  }

  /**
   * Where and how the code differs from the history, or failed; undefined if the code reproduces
   * the whole history.
   */
  get problem(): SessionProblem | undefined {
    return this.#data.problem;
  }

  /**
   * Commands that the code issues in completed tasks and the history does not have, although the
   * replay passes.
   */
  get notInHistory(): readonly NotInHistory[] {
    return this.#data.notInHistory;
  }

  /**
   * Values in the code that differ from the history and that no replay compares: durations,
   * arguments, options. The verdict does not depend on them. If code and history diverge, only
   * values before that point. Computed on first access.
   */
  get changedValues(): readonly ChangedValue[] {
    if (this.#changed === undefined) {
      const { events, activations, trace: { jobs }, converter, problem } = this.#data;
      const before = problem?.divergence?.eventId ?? problem?.position ?? Infinity;
      this.#changed = findChangedValues({ events, activations, jobs, converter, before });
    }
    return this.#changed;
  }

  /** ID of the last event that has happened: 1..length. */
  get position(): number {
    return this.#position;
  }

  /** Number of events. */
  get length(): number {
    return this.#data.lines.length;
  }

  /** The view of the current position. */
  get view(): SessionView {
    return this.#view ??= this.viewAt(this.#position);
  }

  /** Returns the view of a position without moving there. */
  viewAt(position: number): SessionView {
    return viewAt(this.#data, this.#check(position));
  }

  /** Returns all fields of an event as plain data, with decoded payloads. */
  eventDetails(eventId: number): unknown {
    return toPlainEvent(this.#data.events[this.#check(eventId) - 1]!, this.#data.converter);
  }

  /** Moves to a position. Throws a RangeError if the history does not have the position. */
  goTo(position: number): SessionView {
    this.#position = this.#check(position);
    this.#view = undefined;
    return this.view;
  }

  /** Moves one event forward; no-op at the last event. */
  forward(): SessionView {
    return this.goTo(Math.min(this.length, this.#position + 1));
  }

  /** Moves one event back; no-op at the first event. */
  back(): SessionView {
    return this.goTo(Math.max(1, this.#position - 1));
  }

  /** Moves to the next workflow task; after the last one to the end. */
  forwardTask(): SessionView {
    return this.goTo(
      this.tasks.find(({ eventId }) => eventId > this.#position)?.eventId ?? this.length,
    );
  }

  /** Moves to the previous workflow task; before the first one to the start. */
  backTask(): SessionView {
    return this.goTo(this.tasks.findLast(({ eventId }) => eventId < this.#position)?.eventId ?? 1);
  }

  /** Moves to the last event. */
  runToEnd(): SessionView {
    return this.goTo(this.length);
  }

  /** Moves to the position at which code and history diverge; no-op without a problem. */
  goToProblem(): SessionView {
    return this.problem === undefined ? this.view : this.goTo(this.problem.position);
  }

  #check(position: number): number {
    if (Number.isInteger(position) && position >= 1 && position <= this.length) return position;
    throw new RangeError(
      `event ${position} does not exist: this history has events 1 to ${this.length}`,
    );
  }
}
