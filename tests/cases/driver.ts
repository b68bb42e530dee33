// Drives workflows task by task through a TaskRunner and the mini server, then replays the whole
// history and compares every command byte by byte (P3). `finish` is part of every case that closes
// a run, so determinism is tested throughout and not in one place.
import { create, toBinary } from "@bufbuild/protobuf";
import {
  type HistoryEvent,
  HistorySchema,
} from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { loadCore, type WorkerCore } from "../../ts/core/mod.ts";
import {
  CommandKind,
  UpdateResponse,
} from "../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { DefinitionShape } from "../../ts/executor/program/definition.ts";
import { nativePrograms } from "../../ts/executor/run/native_program.ts";
import type { LogEntry, Program } from "../../ts/executor/program/program.ts";
import type { RecordedActivation, Recorder } from "../../ts/executor/tasks/recording.ts";
import type { RejectionHost } from "../../ts/executor/program/rejections.ts";
import type { ReplayOptions, ReplayVerdict } from "../../ts/executor/tasks/replay.ts";
import { TaskRunner } from "../../ts/executor/tasks/task_runner.ts";
import { deepEqual, equal } from "./assert.ts";
import { LocalHost } from "./local_host.ts";
import { MiniServer, type StartOptions } from "./mini_server.ts";
import { rejectionHost } from "./rejection_host.ts";
import { readWorkflowTask } from "../../ts/messages/workflow_task.ts";
import type { RealmOutcome } from "../../ts/executor/tasks/realm_outcome.ts";

export interface DriveOptions extends StartOptions {
  readonly cacheSize?: number;
  /** Wraps the core's handles: how a test makes the core fail. */
  readonly core?: (core: WorkerCore) => WorkerCore;
  /** How the host reports unhandled rejections; default: as this one does. */
  readonly rejections?: RejectionHost;
  /** Events per page of history; default: all in one. */
  readonly pageSize?: number;
  /** false: nothing is cached, and every task brings its whole history. Default: true. */
  readonly cached?: boolean;
  readonly programs?: (workflowType: string) => Program | undefined;
  /** A runner shared with other runs. */
  readonly runner?: RunnerParts;
  readonly server?: MiniServer;
}

export interface RunnerParts {
  readonly runner: Pick<TaskRunner, "runTask" | "replay" | "evict" | "dispose" | "cachedRunIds">;
  readonly logs: LogEntry[];
  readonly recorders: Map<string, Recorder>;
  readonly definitions: DefinitionShape[];
  /** The events of a run, for pages. */
  history: (runId: string) => HistoryEvent[] | Promise<HistoryEvent[]>;
}

/** The runner in use: it listens to the host's rejections, so there is one at a time. */
let current: RunnerParts | undefined;

/**
 * Another place for the runs of `drive` than a TaskRunner in this thread, while a case has set one.
 */
export const elsewhere: {
  make?: (definitions: DefinitionShape[], options: DriveOptions) => Promise<RunnerParts>;
} = {};

export async function makeRunner(
  definitions: DefinitionShape[],
  options: DriveOptions = {},
): Promise<RunnerParts> {
  if (elsewhere.make !== undefined) return await elsewhere.make(definitions, options);
  const loaded = await loadCore("worker");
  const core = options.core?.(loaded) ?? loaded;
  current?.runner.dispose();
  const table = nativePrograms(definitions);
  const logs: LogEntry[] = [];
  const recorders = new Map<string, Recorder>();
  const parts: RunnerParts = {
    logs,
    recorders,
    definitions,
    history: () => {
      throw new Error("this test gives no history pages");
    },
    runner: new TaskRunner({
      core,
      programs: options.programs ?? table.get,
      workflowTypes: table.names,
      runOptions: {
        namespace: "default",
        identity: "test",
        sdkVersion: "0.0.0-test",
        stickyQueue: "sticky",
        runsReducers: true,
      },
      cacheSize: options.cached === false ? 0 : options.cacheSize ?? 100,
      log: { write: (entry) => void logs.push(entry) },
      fetchHistory: async (_workflowId, runId, token) => {
        const events = await parts.history(runId);
        const from = token.length === 0 ? 0 : Number(new TextDecoder().decode(token));
        const to = Math.min(events.length, from + (options.pageSize ?? events.length));
        const nextPageToken = new TextEncoder().encode(to < events.length ? String(to) : "");
        return {
          history: toBinary(
            HistorySchema,
            create(HistorySchema, { events: events.slice(from, to) }),
          ),
          nextPageToken,
        };
      },
      onRecorder: (identity, recorder) => void recorders.set(identity.runId, recorder),
      rejections: options.rejections ?? rejectionHost,
    }),
  };
  current = parts;
  return parts;
}

export class Drive {
  readonly definition: DefinitionShape;
  readonly server: MiniServer;
  readonly parts: RunnerParts;
  readonly cached: boolean;
  /** Activations whose task was completed, in order. */
  readonly live: RecordedActivation[] = [];
  readonly outcomes: RealmOutcome[] = [];
  readonly locals: LocalHost = new LocalHost();

  constructor(
    definition: DefinitionShape,
    server: MiniServer,
    parts: RunnerParts,
    cached: boolean,
  ) {
    this.definition = definition;
    this.server = server;
    this.parts = parts;
    this.cached = cached;
    const before = parts.history;
    parts.history = (runId) => runId === server.runId ? server.events : before(runId);
  }

  get logs(): LogEntry[] {
    return this.parts.logs.filter((entry) => entry.runId === this.server.runId);
  }

  /** One workflow task, to its end. */
  async task(
    options: { queries?: { [id: string]: { type: string; args: unknown[] } } } = {},
  ): Promise<RealmOutcome> {
    const { server, parts } = this;
    const bytes = server.openTask({ sticky: this.cached, ...options });
    const outcome = await this.#run(bytes);
    server.report(outcome);
    if (outcome.response?.$case === "completed") {
      const seen = this.live.at(-1)?.startedEventId ?? 0;
      const activations = parts.recorders.get(server.runId)?.activations ?? [];
      this.live.push(
        ...activations.filter((a) =>
          !a.isReplaying && !a.queryOnly && a.startedEventId >= seen && !this.live.includes(a)
        ),
      );
    }
    return outcome;
  }

  async #run(bytes: Uint8Array): Promise<RealmOutcome> {
    const outcome = await this.parts.runner.runTask(readWorkflowTask(bytes), this.locals.run);
    this.outcomes.push(outcome);
    return outcome;
  }

  /** Asks a query outside workflow tasks. */
  async query(
    type: string,
    ...args: unknown[]
  ): Promise<{ ok: boolean; value?: unknown; message: string }> {
    const outcome = await this.#run(this.server.queryTask(type, args, this.cached));
    this.server.report(outcome);
    return this.server.queryAnswers["query"]!;
  }

  /** Kinds of the commands of the last completed task, as short words. */
  commands(): string[] {
    const last = this.live.at(-1)?.startedEventId;
    return this.live.filter((a) => a.startedEventId === last).flatMap((a) => words(a));
  }

  /** Every command of the run so far. */
  allCommands(): string[] {
    return this.live.flatMap((a) => words(a));
  }

  replay(options: ReplayOptions = {}): Promise<ReplayVerdict> {
    return this.parts.runner.replay(this.server.workflowId, this.server.history(), options);
  }

  /** Replays the whole history and holds its commands against those of the live run. */
  async checkReplay(): Promise<ReplayVerdict> {
    const verdict = await this.replay({ record: true });
    equal(verdict.verdict, "ok", `replay of ${this.definition.name}: ${verdict.error?.message}`);
    if (elsewhere.make === undefined) {
      deepEqual(comparable(verdict.recorded!), comparable(this.live), "commands live and replayed");
    }
    return verdict;
  }

  /** The run is closed: checks the replay and returns its result. */
  async finish(): Promise<unknown> {
    const { closed, taskFailure } = this.server;
    if (closed === undefined) {
      throw new Error(`the run is not closed; last task failure: ${taskFailure?.failure.message}`);
    }
    await this.checkReplay();
    if (closed.kind === "failed") throw new Error(`workflow failed: ${closed.failure?.message}`);
    return closed.result;
  }

  /**
   * Completes open activities and fires open timers, oldest first, task by task, until the run is
   * closed.
   */
  async auto(activities: { [type: string]: (...args: never[]) => unknown } = {}): Promise<unknown> {
    const { server } = this;
    for (let i = 0; server.closed === undefined; i++) {
      if (i > 500) throw new Error("the run does not end");
      if (i > 0) {
        const activity = server.activities.values().next().value;
        const timer = server.timers.keys().next().value;
        if (activity !== undefined) await settleActivity(server, activity.id, activities);
        else if (timer !== undefined) server.fireTimer(timer);
        else {throw new Error(
            `nothing is open; last task failure: ${server.taskFailure?.failure.message}`,
          );}
      }
      await this.task();
      if (server.taskFailure !== undefined) {
        throw new Error(`workflow task failed: ${server.taskFailure.failure.message}`);
      }
    }
    return await this.finish();
  }
}

export async function settleActivity(
  server: MiniServer,
  id: string,
  activities: { [type: string]: (...args: never[]) => unknown },
): Promise<void> {
  const { type, args } = server.activities.get(id)!;
  const run = activities[type];
  if (run === undefined) throw new Error(`no activity ${type}`);
  let result: unknown;
  try {
    result = await run(...args as never[]);
  } catch (e) {
    return server.failActivity(id, e);
  }
  server.completeActivity(id, result);
}

interface Comparable
  extends Pick<RecordedActivation, "startedEventId" | "historyLength" | "timeMs"> {
  readonly commands: Omit<RecordedActivation["commands"][number], "site">[];
}

/**
 * Activations as data to compare. Rejections of updates that were never accepted leave no trace, so
 * replay does not have them, nor the activations that did nothing else. Those of one task at one
 * time are one: a result of a local activity reaches code alone or with others, and history does
 * not record which.
 */
export function comparable(activations: readonly RecordedActivation[]): Comparable[] {
  const accepted = new Set<string>();
  return activations.map(({ startedEventId, historyLength, timeMs, commands }) => {
    const kept = commands.filter(({ kind, attributes }) => {
      if (kind !== CommandKind.COMMAND_KIND_UPDATE_RESPONSE) return true;
      const { protocolInstanceId, response } = UpdateResponse.decode(attributes);
      if (response?.$case === "accepted") accepted.add(protocolInstanceId);
      return response?.$case !== "rejected" || accepted.has(protocolInstanceId);
    });
    return {
      startedEventId,
      historyLength,
      timeMs,
      commands: kept.map(({ site: _, ...command }) => command),
    };
  }).filter((activation) => activation.commands.length > 0).reduce<Comparable[]>((all, one) => {
    const last = all.at(-1);
    if (last?.startedEventId === one.startedEventId && last.timeMs === one.timeMs) {
      last.commands.push(...one.commands);
    } else all.push(one);
    return all;
  }, []);
}

const NAMES = new Map(
  Object.entries(CommandKind).map(([name, kind]) => [kind, name.replace("COMMAND_KIND_", "")]),
);

function words(activation: RecordedActivation): string[] {
  return activation.commands.map(({ kind, cancel, seq }) =>
    `${cancel ? "CANCEL " : ""}${NAMES.get(kind)}${seq > 0 ? ` ${seq}` : ""}`
  );
}

/** Starts a run and its driver; no task has run yet. */
export async function drive(
  definition: DefinitionShape,
  options: DriveOptions = {},
): Promise<Drive> {
  const parts = options.runner ?? await makeRunner([definition], options);
  const server = options.server ?? new MiniServer(definition.name, options);
  return new Drive(definition, server, parts, options.cached !== false);
}
