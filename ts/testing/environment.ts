// An engine in memory for one test, with virtual time: a test of a workflow that sleeps for a month
// takes milliseconds. Downloads nothing and starts no other process. Works with any test runner of
// Node and Deno.
import {
  type OptionNames,
  rejectMisspelledOptions,
  rejectUnknownOptions,
} from "../base/option_names.ts";
import { Client, type ClientOptions, type TransactionWorkflows } from "../client/mod.ts";
import { type CodecOptions, codecsOf } from "../codec/codec.ts";
import { type Duration, toMs } from "../converter/duration.ts";
import { errorText } from "../converter/thrown.ts";
import { type Clock, RealClock, VirtualClock } from "../engine/clock.ts";
import { EmbeddedEngine } from "../engine/embedded_engine.ts";
import { MemoryStore } from "../engine/memory_store.ts";
import type { EmbeddedEngineOptions, EngineLimits } from "../engine/options.ts";
import type { Store } from "../engine/store.ts";
import type { Database } from "../engine/tables/database.ts";
import { consoleLogger } from "../platform/host.ts";
import type { Logger } from "../base/logger.ts";
import { realTimers, type Timers } from "../base/timers.ts";
import { EndlessWaitError, type EndlessWaits, rejectUnknownEndlessWaits } from "./endless_wait.ts";
import { typedService } from "../service/typed.ts";
import { PendingActivityState } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { ActivityAttempt, WorkerEvents } from "../worker/events.ts";
import { EVENTS, WORKER_OPTIONS } from "../worker/option_kinds.ts";
import type { WorkerOptions } from "../worker/options.ts";
import { Worker } from "../worker/worker.ts";
import { blockedBy, KeepsFailingError } from "./keeps_failing.ts";
import { type SkipLimits, type Skipped, VirtualTime, VirtualTimers } from "./time.ts";
import { type Awaited, ObservedService } from "./observed_service.ts";

/** Options of `TestEnvironment.create`. */
export interface TestEnvironmentOptions extends CodecOptions {
  /** Time advances only by `advance`, or while a result is awaited. Default: true. */
  virtualTime?: boolean;
  /** Start of virtual time. Default: now. */
  startTime?: Date | number;
  /**
   * How far virtual time may advance while one workflow is awaited, and over how many due times.
   * Beyond either limit the wait ends with an EndlessWaitError that states what the workflow waits
   * for. Default: 10 years, 50,000 due times.
   */
  skipLimit?: { time?: Duration; moments?: number };
  /**
   * "manual": workflow timers fire only by `fireTimer`, regardless of the time. Timeouts and
   * retries are not affected. Default: "due".
   */
  timers?: EmbeddedEngineOptions["timers"];
  /**
   * Action after two real seconds in which nothing in the environment can end a wait for a result
   * or an update, for example if a test never sends the awaited signal. "warn": logs a warning with
   * what is awaited and the line of the workflow code. "error": rejects the call with an
   * EndlessWaitError with the same facts. Needs virtual time. Default: "warn".
   */
  endlessWaits?: EndlessWaits;
  /** Default: "default". */
  namespace?: string;
  /** Limits of the engine, for tests that exceed them. */
  limits?: EngineLimits;
  /** Converts values to payloads. Default: JSON. */
  converter?: ClientOptions["converter"];
  /**
   * Functions that workflows run by `transact`, and the tables that they change, as for `open`. In
   * Node and Deno.
   */
  reducers?: EmbeddedEngineOptions["reducers"];
  /** Functions that the client runs by name, as for `open`. In Node and Deno. */
  functions?: EmbeddedEngineOptions["functions"];
  /** Migrations of the application's tables, in order. */
  migrations?: EmbeddedEngineOptions["migrations"];
  /** Default: logs warnings and errors to standard error. */
  logger?: Logger;
}

/** Options of a worker in a test environment. */
export type TestWorkerOptions =
  & Omit<WorkerOptions, "service" | "namespace" | "taskQueue" | "timers" | "activityTimers">
  & {
    /** Default: the environment's. */
    taskQueue?: string;
  };

const ENVIRONMENT_OPTIONS: OptionNames<TestEnvironmentOptions> = {
  ...{
    virtualTime: 1,
    startTime: 1,
    skipLimit: 1,
    timers: 1,
    endlessWaits: 1,
    namespace: 1,
    limits: 1,
    converter: 1,
    codec: 1,
  },
  ...{ encodeCommonAttributes: 1, reducers: 1, functions: 1, migrations: 1, logger: 1 },
};
const SKIP_LIMIT: OptionNames<NonNullable<TestEnvironmentOptions["skipLimit"]>> = {
  time: 1,
  moments: 1,
};
const FIRED_WORKFLOW: OptionNames<{ workflowId: string; runId?: string }> = {
  workflowId: 1,
  runId: 1,
};
/** The environment sets service, namespace and timers. */
const {
  service: _,
  namespace: _its,
  timers: _virtual,
  activityTimers: _too,
  ...TEST_WORKER_OPTIONS
} = WORKER_OPTIONS;

const DAY_MS = 86_400_000;
const SKIP_LIMITS: SkipLimits = { timeMs: 3653 * DAY_MS, moments: 50_000 };
const MAX_TASK_ATTEMPTS = 10;
const MAX_ACTIVITY_ATTEMPTS = 1000;

export class TestEnvironment {
  readonly engine: EmbeddedEngine;
  readonly client: Client;
  /** Task queue of the environment's client and workers. */
  readonly taskQueue = "test";
  readonly #options: TestEnvironmentOptions;
  /** The store in SQLite, if there are tables. */
  readonly #tables: Store | undefined;
  readonly #clock: Clock;
  readonly #service: ObservedService;
  readonly #time: VirtualTime | undefined;
  readonly #timers: VirtualTimers | undefined;
  readonly #workers = new Set<Worker>();
  readonly #outside = new Set<ActivityAttempt>();
  /** Ids of workflows whose task or activity keeps failing. */
  readonly #keepFailing = new Set<string>();

  private constructor(
    engine: EmbeddedEngine,
    tables: Store | undefined,
    clock: Clock,
    options: TestEnvironmentOptions,
    waitTimers: Timers,
  ) {
    this.engine = engine;
    this.#tables = tables;
    this.#clock = clock;
    this.#options = options;
    this.#service = new ObservedService(engine, () => this.#time?.wanted());
    if (clock instanceof VirtualClock) {
      const timers = this.#timers = new VirtualTimers(clock);
      const parts = {
        engine,
        clock,
        timers,
        service: this.#service,
        workers: this.#workers,
        outside: () => this.#isCompletedOutside(),
        limits: skipLimitsOf(options.skipLimit),
        tooFar: (awaited: Awaited, skipped: Skipped) => this.#endWait(awaited, skipped),
        endless: {
          engine,
          timers: waitTimers,
          stackTrace: (workflowId: string, runId: string) => this.#stackTrace(workflowId, runId),
          workers: () =>
            [...this.#workers].map(({ taskQueue, workflowTypes }) =>
              `"${taskQueue}" (workflows ${workflowTypes.join(", ")})`
            ),
          found: (awaited: Awaited, error: EndlessWaitError) => this.#foundEndless(awaited, error),
        },
      };
      this.#time = new VirtualTime(parts);
    }
    this.client = new Client({
      service: this.#service,
      namespace: engine.namespace,
      taskQueue: this.taskQueue,
      // Time must not advance while a call is being encoded, or its response decoded.
      codec: codecsOf(options).map((codec) => ({
        ...(codec.encodeSync !== undefined && {
          encodeSync: (payloads) => codec.encodeSync!(payloads),
        }),
        ...(codec.decodeSync !== undefined && {
          decodeSync: (payloads) => codec.decodeSync!(payloads),
        }),
        encode: (payloads) => this.#service.during(() => codec.encode(payloads)),
        decode: (payloads) => this.#service.during(() => codec.decode(payloads)),
      })),
      encodeCommonAttributes: options.encodeCommonAttributes,
      logger: this.#logger,
      ...(options.converter !== undefined && { converter: options.converter }),
    });
  }

  /** @param waitTimers Real time for `endlessWaits`; replaced in tests of this package. */
  static async create(
    options: TestEnvironmentOptions = {},
    waitTimers: Timers = realTimers,
  ): Promise<TestEnvironment> {
    rejectUnknownOptions("TestEnvironment.create", options, ENVIRONMENT_OPTIONS);
    rejectUnknownEndlessWaits(options.endlessWaits);
    rejectUnknownOptions("skipLimit", options.skipLimit, SKIP_LIMIT);
    const { startTime = Date.now() } = options;
    const clock = options.virtualTime === false
      ? new RealClock()
      : new VirtualClock(Number(startTime));
    const { reducers, functions, migrations, converter } = options;
    const withTables = [reducers, functions, migrations].some((each) => each !== undefined);
    const store = withTables
      ? (await import("../engine/sqlite/in_memory.ts")).openInMemory()
      : new MemoryStore();
    const late: { environment?: TestEnvironment } = {};
    const engine = await EmbeddedEngine.open({
      store,
      workflows: (transport) => late.environment!.client.workflowsIn(transport),
      ...(reducers !== undefined && { reducers }),
      ...(functions !== undefined && { functions }),
      ...(migrations !== undefined && { migrations }),
      ...(converter !== undefined && { converter }),
      codec: options.codec,
      encodeCommonAttributes: options.encodeCommonAttributes,
      clock,
      ...(options.timers !== undefined && { timers: options.timers }),
      ...(options.namespace !== undefined && { namespace: options.namespace }),
      ...(options.limits !== undefined && { limits: options.limits }),
    });
    return late.environment = new TestEnvironment(
      engine,
      withTables ? store : undefined,
      clock,
      options,
      waitTimers,
    );
  }

  /** Same as `app.transaction`: rows and messages to workflows in one commit. */
  transaction<T>(
    work: (
      db: Database & { readonly workflows: TransactionWorkflows },
      workflows: TransactionWorkflows,
    ) => T,
  ): Promise<T> {
    return this.engine.transact((database) => {
      const db = database as Database & { readonly workflows: TransactionWorkflows };
      return work(db, db.workflows);
    });
  }

  /** Virtual time in milliseconds since the epoch. Workflows have the same time. */
  now(): number {
    return this.#clock.nowMs();
  }

  /**
   * Advances virtual time. Timers, timeouts and retries become due in order, each at its time;
   * their effects are complete when this resolves. Activities get a tenth of a real second between
   * two due times.
   */
  async advance(duration: Duration): Promise<void> {
    if (this.#time === undefined) {
      throw new Error(
        "this environment runs in real time; create it with virtualTime: true to move time",
      );
    }
    await this.#time.advance(toMs(duration));
  }

  /**
   * Fires the oldest open timer of a workflow with that name (of `timer(name, ...)`, or the summary
   * of a `sleep`), and waits until its effects are complete. Needs `timers: "manual"`. Rejects with
   * a ServiceError that lists the open timers if the workflow or timer does not exist.
   */
  async fireTimer(
    workflow: string | { readonly workflowId: string; readonly runId?: string | undefined },
    name: string,
  ): Promise<void> {
    if (typeof workflow !== "string") {
      rejectMisspelledOptions("the workflow of fireTimer", workflow, FIRED_WORKFLOW);
    }
    const { workflowId, runId } = typeof workflow === "string"
      ? { workflowId: workflow, runId: undefined }
      : workflow;
    await this.#time?.advance(0);
    await this.engine.fireTimer(workflowId, name, runId);
    await this.#time?.advance(0);
  }

  /**
   * Creates a worker for this environment. The caller runs it and shuts it down; `runWorker` does
   * both.
   */
  async createWorker(options: TestWorkerOptions): Promise<Worker> {
    rejectUnknownOptions("createWorker", options, TEST_WORKER_OPTIONS);
    rejectUnknownOptions("events of createWorker", options.events, EVENTS);
    const worker = await Worker.create({
      logger: this.#logger,
      unknownActivityIsFinal: true,
      codec: this.#options.codec,
      encodeCommonAttributes: this.#options.encodeCommonAttributes,
      ...(this.#options.converter !== undefined && { converter: this.#options.converter }),
      ...options,
      service: this.engine,
      namespace: this.engine.namespace,
      taskQueue: options.taskQueue ?? this.taskQueue,
      events: this.#watch(options.events),
      ...(this.#timers !== undefined && { activityTimers: this.#timers }),
    });
    this.#workers.add(worker);
    return worker;
  }

  /** Runs a worker while `body` runs. Returns the result of `body`. */
  async runWorker<T>(options: TestWorkerOptions, body: () => Promise<T>): Promise<T> {
    const worker = await this.createWorker(options);
    try {
      return await worker.runUntil(body);
    } finally {
      this.#workers.delete(worker);
    }
  }

  /** Closes the engine. Shut down the workers of `createWorker` first. */
  async dispose(): Promise<void> {
    this.#time?.close();
    await Promise.all([...this.#workers].map((worker) => worker.shutdown()));
    await this.engine.close();
    this.#tables?.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }

  get #logger(): Logger {
    return this.#options.logger ?? consoleLogger("warn");
  }

  /**
   * Ends waits for a workflow, and for parents that wait for it, when its task or an activity of it
   * keeps failing.
   */
  #watch(events: WorkerEvents = {}): WorkerEvents {
    const keepsFailing = (workflowId: string, what: string, message: string) => {
      if (this.#time !== undefined) {
        void this.#endBlocked(
          workflowId,
          new KeepsFailingError(`${what} keeps failing: ${message}`),
        );
      }
    };
    return {
      workflowTaskFailed: (failure) => {
        events.workflowTaskFailed?.(failure);
        if (failure.attempt >= MAX_TASK_ATTEMPTS) {
          keepsFailing(
            failure.workflowId,
            `the workflow task of ${failure.workflowId}`,
            failure.message,
          );
        }
      },
      activityFailed: (failure) => {
        events.activityFailed?.(failure);
        if (failure.attempt >= MAX_ACTIVITY_ATTEMPTS) {
          keepsFailing(failure.workflowId, `activity ${failure.activityType}`, failure.message);
        }
      },
      activityCompletesAsync: (attempt) => {
        events.activityCompletesAsync?.(attempt);
        this.#outside.add(attempt);
      },
    };
  }

  async #endBlocked(workflowId: string, error: KeepsFailingError): Promise<void> {
    this.#keepFailing.add(workflowId);
    try {
      // Time does not move while the parents are read.
      await this.#service.during(async () => {
        for await (
          const blocked of blockedBy(workflowId, (id) => this.#unobserved(id), this.#keepFailing)
        ) {
          this.#service.giveUp(error, (awaited) => awaited.workflowId === blocked);
        }
      });
    } catch (problem) {
      this.#logger.warn(
        `cannot read the parents of a workflow that keeps failing: ${errorText(problem)}`,
        { workflowId },
      );
    }
  }

  /** Says what a workflow waits for that keeps virtual time going. */
  async #endWait(
    { workflowId, what }: Awaited,
    { sinceMs, moments, nextMs }: Skipped,
  ): Promise<void> {
    const days = (this.#clock.nowMs() - sinceMs) / DAY_MS;
    const waitsFor = await this.#waitsOf(workflowId);
    const message =
      `${what} of workflow "${workflowId}" was not reached within ${
        days < 2 ? `${(days * 24).toFixed(1)} hours` : `${Math.round(days)} days`
      } ` +
      `of virtual time, over ${moments} ${moments === 1 ? "moment" : "moments"} (to ${
        new Date(this.#clock.nowMs()).toISOString()
      }); the next moment, ${
        new Date(nextMs).toISOString()
      }, is beyond the limit. It waits for:\n` +
      `${waitsFor}\n` +
      `If the workflow needs more time, raise \`skipLimit\` of TestEnvironment.create. Test a workflow that never ends with ` +
      `env.advance(...), or end it with a signal or handle.cancel() before you await its result.`;
    const error = new EndlessWaitError(message, { workflowId, awaited: what, waitsFor });
    this.#service.giveUp(error, (awaited) => awaited.workflowId === workflowId);
  }

  #foundEndless({ key, workflowId }: Awaited, error: EndlessWaitError): void {
    if (this.#options.endlessWaits === "error") {
      this.#service.giveUp(error, (awaited) => awaited.key === key);
    } else this.#logger.warn(error.message, { workflowId });
  }

  /**
   * Returns where the code of a run waits. Uses the unobserved service, because the query must not
   * count as an action of the test.
   */
  #stackTrace(workflowId: string, runId?: string): Promise<string> {
    return this.#unobserved(workflowId, runId).with({ timeout: "5s" }).query("__stack_trace").then(
      String,
    );
  }

  #unobserved(workflowId: string, runId?: string) {
    return new Client({
      service: this.engine,
      namespace: this.engine.namespace,
      codec: this.#options.codec,
    })
      .getHandle(undefined, workflowId, runId);
  }

  /** Returns where the code of a workflow waits, with user lines, and its pending activities. */
  async #waitsOf(workflowId: string): Promise<string> {
    const lines: string[] = [];
    try {
      lines.push(await this.#stackTrace(workflowId));
    } catch (error) {
      lines.push(`(cannot determine where the workflow waits: ${(error as Error).message})`);
    }
    const run = await this.#unobserved(workflowId).describe().catch(() => undefined);
    for (const { name, id } of run?.pendingProcedures ?? []) {
      lines.push(`procedure ${name} (id ${id}): no client completes it`);
    }
    const pending = run?.pendingActivities ?? [];
    for (const { activityType, activityId, attempt, state, lastFailure } of pending) {
      const failed = lastFailure === undefined ? "" : `, failed before: ${lastFailure.message}`;
      lines.push(
        `activity ${activityType} (id ${activityId}): ${state}, attempt ${attempt}${failed}`,
      );
    }
    return lines.join("\n").replace(/^/gm, "  ");
  }

  /** Removes attempts that have ended meanwhile. */
  async #isCompletedOutside(): Promise<boolean> {
    const service = typedService(this.engine);
    for (const attempt of this.#outside) {
      const { workflowId, runId, activityId } = attempt;
      const request = { namespace: this.engine.namespace, execution: { workflowId, runId } };
      const pending = await service.describeWorkflowExecution(request).then(
        (run) => run.pendingActivities,
        () => [],
      );
      const open = pending.some((activity) =>
        activity.activityId === activityId && activity.attempt === attempt.attempt &&
        (activity.state === PendingActivityState.STARTED ||
          activity.state === PendingActivityState.CANCEL_REQUESTED)
      );
      if (!open) this.#outside.delete(attempt);
    }
    return this.#outside.size > 0;
  }
}

function skipLimitsOf(
  { time, moments }: NonNullable<TestEnvironmentOptions["skipLimit"]> = {},
): SkipLimits {
  if (moments !== undefined && !(moments >= 1)) {
    throw new RangeError(
      `skipLimit.moments must be at least 1 (Infinity for no limit), not ${moments}`,
    );
  }
  return {
    timeMs: time === Infinity ? Infinity : time === undefined ? SKIP_LIMITS.timeMs : toMs(time),
    moments: moments ?? SKIP_LIMITS.moments,
  };
}
