// A debug session: the history of one run, replayed once against the code of today in a realm, and then stepped through forward and back.
//
// The replay writes down, task by task, what the code was told, what it asked for and where it stood. That replay of any prefix gives the
// same (promise P3) is what makes this the truth at every position, and makes a step back cost what a step forward costs: a look-up. No
// position is "live": nothing here can touch the run.
//
// A position is the id of an event: events 1..N have happened, and every workflow task that began among them has been run.
import { create, toBinary } from "@bufbuild/protobuf";
import type { PayloadCodec } from "../codec/codec.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { RecordedActivation } from "../executor/tasks/recording.ts";
import type { ReplayOptions, ReplayVerdict } from "../executor/tasks/replay.ts";
import type { ReplayTrace } from "../executor/tasks/replay_trace.ts";
import { type HistoryEvent, HistorySchema } from "../api/generated/temporal/api/history/v1/message_pb.ts";
import { SessionCode } from "./code/session_code.ts";
import { changedValues } from "./divergence/changed.ts";
import type { ChangedValue } from "./divergence/types.ts";
import type { EventLinks } from "./event_links.ts";
import type { EventLine } from "./events.ts";
import type { HistoryFile } from "../history_files/history_file.ts";
import { commandsNotInHistory, type NotInHistory } from "./not_in_history.ts";
import { type PreparedHistory, prepareHistory } from "./prepared_history.ts";
import { type SessionProblem, sessionProblem } from "./problem.ts";
import type { SessionData, SessionTask, TaskLine } from "./session_data.ts";
import { shownEvent } from "./values.ts";
import { type SessionView, viewAt, ViewCache } from "./view.ts";

export type { TaskLine } from "./session_data.ts";

/** A realm of `temporalex/realm`, or anything else that replays histories. */
export interface ReplayingRealm {
  /** Names of the workflows that it has code for. */
  readonly workflowTypes: readonly string[];
  /** It has code for every type, also for those that have no name here. */
  readonly takesAnyType?: boolean;
  /** Replays a history (bytes of temporal.api.history.v1.History) with no reporter. */
  replay(workflowId: string, history: Uint8Array, options?: ReplayOptions): Promise<ReplayVerdict>;
}

/** Options of a debug session. */
export interface SessionOptions {
  /** Where the workflow code is. Best a worker realm: it has the determinism guard and the watchdog; an inline realm does for tests. */
  readonly realm: ReplayingRealm;
  /** The codec, or codecs, with which the run's payloads were encoded: the history is decoded first, in memory. */
  readonly codec?: PayloadCodec | readonly PayloadCodec[];
  /** Reads the payloads that are shown. Default: Temporal's default encodings. */
  readonly converter?: PayloadConverter;
  /**
   * Also know which lines ran, and what variables were: `DebugSession.code`. The realm must have been made with `lines`. Default: as the
   * realm was made.
   */
  readonly lines?: boolean;
  /** Extra commands and swapped update ids are problems, too. */
  readonly strict?: boolean;
}

/** The history is of a workflow that the realm has no code for. */
export class UnknownWorkflowTypeError extends Error {
  override name = "UnknownWorkflowTypeError";
  /** The type that the history is of. */
  readonly workflowType: string;
  /** The types that there is code for. */
  readonly workflowTypes: readonly string[];

  constructor(workflowType: string, workflowTypes: readonly string[]) {
    const known = workflowTypes.length === 0 ? "none" : workflowTypes.join(", ");
    super(`this is a history of workflow "${workflowType}", but the code has no such workflow (it has: ${known})`);
    this.workflowType = workflowType;
    this.workflowTypes = workflowTypes;
  }
}

const NO_TRACE: ReplayTrace = { jobs: [], waits: [], published: [], receives: [], buffered: [], logs: [] };

/**
 * Opens a session over a history in any shape that people export, or over one that was prepared (its codec and converter count then). Rejects with a HistoryFileError for a file that holds none, and with an
 * UnknownWorkflowTypeError, and where a codec fails with a PayloadCodecError; a history that the code does not reproduce opens, and its session says so in `problem`.
 */
export async function openSession(file: Uint8Array | PreparedHistory, options: SessionOptions): Promise<DebugSession> {
  const { realm, strict = false, lines = true } = options;
  const { file: history, bytes, events, links, converter, lines: shown } = file instanceof Uint8Array
    ? await prepareHistory(file, options)
    : file;
  if (realm.takesAnyType !== true && !realm.workflowTypes.includes(history.workflowType)) {
    throw new UnknownWorkflowTypeError(history.workflowType, realm.workflowTypes);
  }
  const verdict = await replay(realm, history.workflowId, bytes, events, links, { strict, lines });
  const activations = verdict.recorded ?? [];
  const tasks = tasksOf(activations, verdict.trace ?? NO_TRACE, links);
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

/** The replay of the whole; where code of some task never ends, with what the tasks before it gave. */
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
  const { recorded, trace } = await realm.replay(workflowId, toBinary(HistorySchema, prefix), options);
  return { ...verdict, ...(recorded === undefined ? {} : { recorded }), ...(trace === undefined ? {} : { trace }) };
}

/** A task is mostly one activation of the code; some have several. */
function tasksOf(activations: readonly RecordedActivation[], { jobs }: ReplayTrace, links: EventLinks): SessionTask[] {
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
 * The number of activations that are of tasks. Events after the last task are given to the code, too, to see that it takes them; but history
 * holds no task in which it was told of them, and so no position at which it knows. What follows from them may take several activations.
 */
function endOfTasks(activations: readonly RecordedActivation[], jobs: ReplayTrace["jobs"]): number {
  const started = activations.at(-1)?.startedEventId ?? 0;
  const first = activations.findIndex(({ startedEventId, historyLength }, i) => {
    if (startedEventId !== started || historyLength <= started) return false;
    // A task that answered nothing is handed over together with what follows it: it begins with what the task was told.
    const told = jobs[i]?.find(({ eventId }) => eventId > 0);
    return told !== undefined && told.eventId > started;
  });
  return first < 0 ? activations.length : first;
}

/** A history being stepped through. Moving is synchronous, and the same position always shows the same. */
export class DebugSession {
  /** Type of the workflow. */
  readonly workflowType: string;
  /** "" where the history does not say. */
  readonly workflowId: string;
  /** The run that the history is of. */
  readonly runId: string;
  /** What was done to the file that is worth knowing. */
  readonly notes: readonly string[];
  /** What the replay of the whole history said. */
  readonly verdict: ReplayVerdict["verdict"];
  /** What it warned of. */
  readonly warnings: ReplayVerdict["warnings"];
  /** What is known of each line of the code; undefined where the realm was not made with `lines`. */
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

  /** The workflow tasks that the code ran, in order. */
  get tasks(): readonly TaskLine[] {
    return this.#data.tasks;
  }

  /** Where and how the code differs from history, or failed; undefined when it reproduces all of it. */
  get problem(): SessionProblem | undefined {
    return this.#data.problem;
  }

  /** Commands that the code issues in completed tasks and the history does not have; the replay passes with them. */
  get notInHistory(): readonly NotInHistory[] {
    return this.#data.notInHistory;
  }

  /**
   * What the code gives otherwise than history has it, and no replay compares: durations, arguments, options. The verdict does not know of
   * it. Where code and history part, what comes before. Looked for when it is first asked for.
   */
  get changedValues(): readonly ChangedValue[] {
    if (this.#changed === undefined) {
      const { events, activations, trace: { jobs }, converter, problem } = this.#data;
      const before = problem?.divergence?.eventId ?? problem?.position ?? Infinity;
      this.#changed = changedValues({ events, activations, jobs, converter, before });
    }
    return this.#changed;
  }

  /** Id of the last event that has happened: 1..length. */
  get position(): number {
    return this.#position;
  }

  /** Number of events. */
  get length(): number {
    return this.#data.lines.length;
  }

  /** Everything at the current position. */
  get view(): SessionView {
    return this.#view ??= this.viewAt(this.#position);
  }

  /** Everything at a position, without going there. */
  viewAt(position: number): SessionView {
    return viewAt(this.#data, this.#check(position));
  }

  /** All that an event says, as plain data with its payloads decoded. */
  eventDetails(eventId: number): unknown {
    return shownEvent(this.#data.events[this.#check(eventId) - 1]!, this.#data.converter);
  }

  /** To a position. Throws a RangeError for one that the history does not have. */
  goTo(position: number): SessionView {
    this.#position = this.#check(position);
    this.#view = undefined;
    return this.view;
  }

  /** One event on; at the last one it stays. */
  forward(): SessionView {
    return this.goTo(Math.min(this.length, this.#position + 1));
  }

  /** One event back; at the first one it stays. */
  back(): SessionView {
    return this.goTo(Math.max(1, this.#position - 1));
  }

  /** To the next workflow task, or, where none follows, to the end. */
  forwardTask(): SessionView {
    return this.goTo(this.tasks.find(({ eventId }) => eventId > this.#position)?.eventId ?? this.length);
  }

  /** To the workflow task before, or, where there is none, to the start. */
  backTask(): SessionView {
    return this.goTo(this.tasks.findLast(({ eventId }) => eventId < this.#position)?.eventId ?? 1);
  }

  /** To the last event. */
  runToEnd(): SessionView {
    return this.goTo(this.length);
  }

  /** To where the code and history part, if they do. */
  goToProblem(): SessionView {
    return this.problem === undefined ? this.view : this.goTo(this.problem.position);
  }

  #check(position: number): number {
    if (Number.isInteger(position) && position >= 1 && position <= this.length) return position;
    throw new RangeError(`event ${position} does not exist: this history has events 1 to ${this.length}`);
  }
}
