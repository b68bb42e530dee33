// One workflow task from poll to report: the realm runs it, the outcome is reported, and a task in
// the response runs next. The response decides whether the run stays in the cache
// (docs/dev/semantics/tasks.md#what-the-service-says-about-a-report), and the run's next task waits
// for it. Nothing rejects: a task that cannot be reported is logged, its run evicted, and
// dispatched again.
import { create, toBinary } from "@bufbuild/protobuf";
import { EvictionReason } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { toFailure } from "../../converter/failure_converter.ts";
import { messageOf } from "../../converter/thrown.ts";
import { shownField, type ShownRun } from "../../messages/shown_run.ts";
import { readWorkflowTask, taskTokenOf } from "../../messages/workflow_task.ts";
import type { LocalWork, Realm, RealmOutcome, TaskHead, WorkflowTask } from "../../realm/realm.ts";
import { PayloadCodecError } from "../../codec/codec.ts";
import { loggable } from "../../codec/loggable.ts";
import { decodeForRun } from "../../codec/coded_service.ts";
import type { MessageCodec } from "../../codec/message_codec.ts";
import { type PayloadLimits, PayloadTooLargeError } from "../../service/limits.ts";
import type { Logger } from "../../base/logger.ts";
import { withFields } from "../../base/logger.ts";
import { Code, type RawService } from "../../service/raw.ts";
import type { Timers } from "../../base/timers.ts";
import { WorkflowTaskFailedCause } from "../../messages/generated/temporal/api/enums/v1/failed_cause_pb.ts";
import { concat } from "../../messages/wire.ts";
import { QueryResultType } from "../../messages/generated/temporal/api/enums/v1/query_pb.ts";
import {
  RespondQueryTaskCompletedRequestSchema,
  RespondWorkflowTaskFailedRequestSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { logOutcome } from "./outcome_log.ts";
import { checkCompletion } from "./command_sizes.ts";
import type { SentVersion } from "../deployment.ts";
import type { EagerActivities } from "./eager_activities.ts";
import type { WorkerEvents } from "../events.ts";
import type { WorkflowTaskMetrics } from "../metrics/workflow_task_metrics.ts";
import type { WorkflowTracing } from "./workflow_tracing.ts";
import { CrashGuard, TaskWaits } from "./crash_guard.ts";
import type { RunningTasks } from "../../crash_notes/running_tasks.ts";
import type { LocalActivities } from "../activities/local_activities.ts";
import { RecentRuns } from "./recent_runs.ts";
import { Refusals } from "./refusals.ts";
import { RunTurns } from "./run_turns.ts";
import { hasCode, MESSAGE_TOO_LARGE, report, type ReportContext, unencodable } from "./reports.ts";
import {
  type CompletionAnswer,
  meteredAttempts,
  NO_NEW_TASK,
  readCompletionAnswer,
} from "../task_bytes.ts";

export interface WorkflowTasksOptions {
  service: RawService;
  /** Runs workflow code and caches runs. */
  realm: Realm;
  namespace: string;
  identity: string;
  /** Decodes tasks before they enter the realm, and encodes their outcomes. */
  codec: MessageCodec | undefined;
  /** Surrounds waits of tasks outside their realm. */
  taskWaits?: TaskWaits | undefined;
  local?: LocalActivities | undefined;
  /** Measures the tasks; undefined without metrics. */
  taskMetrics?: WorkflowTaskMetrics | undefined;
  /** Traces the tasks; undefined without tracer. */
  tracing?: WorkflowTracing | undefined;
  deployment?: SentVersion | undefined;
  limits: PayloadLimits;
  logger: Logger;
  events: WorkerEvents;
  timers: Timers;
  /** Maximum tasks at a time. */
  maxConcurrentWorkflowTasks: number;
}

/** The response to a report. */
interface Reported {
  /** The run's next task. */
  readonly next: WorkflowTask | undefined;
  /** The report was rejected, or its result is unknown. */
  readonly lost: boolean;
}

const NOTHING_MORE: Reported = { next: undefined, lost: false };

/** No additional fields. */
const NOTHING = new Uint8Array(0);

/** Maximum runs whose last failure is remembered. */
const MAX_KNOWN_FAILURES = 10_000;

/** Limit of gRPC servers for requests, in bytes. */
const MAX_REQUEST_BYTES = 4 * 1024 * 1024;

export class WorkflowTasks {
  /** Runs that this worker advanced recently. */
  readonly recentRuns: RecentRuns;
  readonly #options: WorkflowTasksOptions;
  readonly #turns = new RunTurns();
  #realm: Realm;
  #stopping = false;
  /** Tasks in the realm that are not reported yet. */
  #inWork = 0;
  #whenIdle: (() => void)[] = [];
  /** Tasks wait for this while the workflows are replaced. */
  #gate: Promise<void> | undefined;
  #eager: EagerActivities | undefined;
  #crashGuard: CrashGuard | undefined;
  readonly #waits: TaskWaits;
  /** Messages of the last failure of runs whose last task failed; the newest last. */
  readonly #lastFailures = new Map<string, string>();
  readonly #refusals = new Refusals();

  constructor(options: WorkflowTasksOptions) {
    this.#options = options;
    this.#realm = options.realm;
    this.#waits = options.taskWaits ?? new TaskWaits();
    this.recentRuns = new RecentRuns(options.timers);
  }

  /** The realm of new tasks. */
  get realm(): Realm {
    return this.#realm;
  }

  /** Whether the run's tasks wait for its release. */
  holds(runId: string): boolean {
    return this.#crashGuard?.holds(runId) === true;
  }

  /**
   * Makes new tasks wait; running ones finish and report. Returns a function that lets them
   * continue.
   */
  pause(): () => void {
    this.#crashGuard?.letGo();
    this.#options.local?.hurry();
    let open!: () => void;
    this.#gate = new Promise((resolve) => {
      open = () => {
        this.#gate = undefined;
        resolve();
      };
    });
    return open;
  }

  /** Resolves when no task is in progress. Call after `pause`. */
  idle(): Promise<void> {
    return this.#inWork === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  /**
   * Sends later tasks to this realm. Call while paused and idle; the caller disposes of the old
   * realm.
   */
  replaceRealm(realm: Realm): void {
    this.#realm = realm;
  }

  /** Makes reports request the activities that they schedule. */
  askFor(eager: EagerActivities): void {
    this.#eager = eager;
  }

  /** Records running tasks, runs suspected runs alone, and makes held ones wait. */
  noteRunningTasks(running: RunningTasks): void {
    const refuse = async (task: WorkflowTask, error: Error, logger: Logger) => {
      this.#failed(task.head, error.message);
      this.#options.taskMetrics?.failed(task.head, "WorkflowError");
      await this.#refuse(
        task,
        error,
        WorkflowTaskFailedCause.WORKFLOW_WORKER_UNHANDLED_FAILURE,
        logger,
      );
    };
    const { timers, maxConcurrentWorkflowTasks: slots } = this.#options;
    this.#crashGuard = new CrashGuard({ running, timers, slots, refuse });
    this.#waits.guard = this.#crashGuard;
  }

  /** Makes reports request no further task. */
  stopping(): void {
    this.#stopping = true;
    this.#crashGuard?.letGo();
  }

  /** Reads a task; logs bytes that do not decode and returns undefined. */
  read(bytes: Uint8Array): WorkflowTask | undefined {
    try {
      return readWorkflowTask(bytes);
    } catch (error) {
      this.#options.logger.error("cannot decode a workflow task from the service", {
        error,
        bytes: bytes.length,
      });
      return undefined;
    }
  }

  /** The same for a task in the response to a report; a poll has told what the service keeps. */
  #readNext(bytes: Uint8Array, { asksForShown }: TaskHead): WorkflowTask | undefined {
    const task = this.read(bytes);
    return task === undefined || asksForShown !== true
      ? task
      : { ...task, head: { ...task.head, asksForShown } };
  }

  /** Processes a task and those in the responses to its reports. Never rejects. */
  async handle(task: WorkflowTask): Promise<void> {
    let next: WorkflowTask | undefined = task;
    while (next !== undefined) next = await this.#one(next);
  }

  async #one(task: WorkflowTask): Promise<WorkflowTask | undefined> {
    const { runId } = task.head;
    const turn = this.#turns.enter(runId);
    if (turn !== undefined) await turn;
    while (this.#gate !== undefined) await this.#gate;
    this.#inWork++;
    try {
      return await this.#run(task, this.#realm);
    } finally {
      this.#turns.leave(runId);
      if (--this.#inWork === 0) { for (const resolve of this.#whenIdle.splice(0)) resolve(); }
    }
  }

  async #run(task: WorkflowTask, realm: Realm): Promise<WorkflowTask | undefined> {
    const { codec } = this.#options;
    const { head, bytes } = task;
    const { workflowId, runId, workflowType, attempt } = head;
    const logger = withFields(this.#options.logger, { workflowId, runId, workflowType, attempt });
    if (this.#refusals.waits(head)) {
      logger.debug("a workflow task was skipped: the service rejected the previous completion");
      return undefined;
    }
    const { taskMetrics } = this.#options;
    const began = taskMetrics?.begin(head);
    this.#options.tracing?.begin(task);
    if (await this.#crashGuard?.heldBack(task, logger)) return undefined;
    const { local } = this.#options;
    local?.begin(runId);
    const identity = { workflowType, workflowId, runId };
    const runLocally = local && ((work: LocalWork) => {
      const run = () => local.run(identity, work);
      return work.wait ? this.#waits.around(runId, run) : run();
    });
    let outcome: RealmOutcome;
    try {
      const decoded = codec === undefined
        ? task
        : { head, bytes: await decodeForRun(codec, "pollWorkflowTaskQueue", bytes) };
      const crashGuard = this.#crashGuard;
      outcome = crashGuard === undefined
        ? await realm.runTask(decoded, runLocally)
        : await crashGuard.run(head, () => realm.runTask(decoded, runLocally));
    } catch (error) {
      await this.#notRun(task, realm, error, logger);
      return undefined;
    }
    if (began !== undefined) taskMetrics!.settled(head, outcome, began);
    this.#log(outcome, head, logger);
    if (outcome.error !== undefined && head.query === undefined) {
      this.#failed(head, outcome.error.message);
    }
    const { next, lost } = await this.#report(outcome, task, realm, logger);
    if (outcome.evict) realm.evict(runId);
    // A query does not affect running activities. After a rejected report the task comes again.
    local?.end(
      runId,
      head.query !== undefined || lost ? "all" : outcome.heartbeat ? "unrecorded" : "none",
    );
    return next;
  }

  /** Logs an error once per run and cause; repetitions are logged at debug level. */
  #log(outcome: RealmOutcome, head: TaskHead, logger: Logger): void {
    const { error } = outcome;
    if (head.query !== undefined || error === undefined) {
      if (head.query === undefined) this.#lastFailures.delete(head.runId);
    } else {
      const again = this.#lastFailures.get(head.runId) === error.message;
      this.#lastFailures.set(head.runId, error.message);
      if (this.#lastFailures.size > MAX_KNOWN_FAILURES) {
        this.#lastFailures.delete(this.#lastFailures.keys().next().value!);
      }
      if (again) {
        logger.debug("a workflow task failed again, for the same reason");
        return;
      }
    }
    logOutcome(outcome, head, logger, this.#options.codec?.hidesText === true);
  }

  /** The task has no outcome: its payloads do not decode, or the realm was lost. */
  async #notRun(task: WorkflowTask, realm: Realm, error: unknown, logger: Logger): Promise<void> {
    const { head } = task;
    const { codec } = this.#options;
    logger.error("a workflow task could not be run", { error: loggable(error, codec) });
    this.#failed(head, messageOf(error));
    realm.evict(head.runId);
    this.#options.taskMetrics?.failed(head, "WorkflowError");
    await this.#refuse(
      task,
      error,
      WorkflowTaskFailedCause.WORKFLOW_WORKER_UNHANDLED_FAILURE,
      logger,
    );
    this.#options.local?.end(head.runId, "none");
  }

  #failed({ workflowId, runId, workflowType, attempt }: TaskHead, message: string): void {
    this.#options.events.workflowTaskFailed?.({
      workflowId,
      runId,
      workflowType,
      attempt,
      message,
    });
  }

  /** Returns the fields that the worker appends to a completion. */
  #tails(
    outcome: RealmOutcome,
    head: TaskHead,
    realm: Realm,
    shown: ShownRun | undefined,
  ): Uint8Array[] {
    const { deployment, local } = this.#options;
    const version = deployment?.completedTail(
      outcome.versioningBehavior ?? realm.versioningBehaviors.get(head.workflowType),
    );
    const last = this.#stopping && !(outcome.heartbeat && local?.goOn);
    const attempts = local?.laterAttempts(head.runId) ?? 0;
    return [
      version ?? NOTHING,
      last ? NO_NEW_TASK : NOTHING,
      attempts > 0 ? meteredAttempts(attempts) : NOTHING,
      shown !== undefined && head.asksForShown === true ? shownField(shown) : NOTHING,
    ];
  }

  /** Reports the outcome; returns the run's next task. */
  async #report(
    outcome: RealmOutcome,
    task: WorkflowTask,
    realm: Realm,
    logger: Logger,
  ): Promise<Reported> {
    const context = { ...this.#options, logger };
    const { response } = outcome;
    try {
      switch (response?.$case) {
        case "completed":
          return await this.#reportCompleted(outcome, response.value, task.head, realm, logger);
        case "failed":
          await report(
            context,
            "respondWorkflowTaskFailed",
            concat([response.value, this.#options.deployment?.failedTail ?? NOTHING]),
          );
          return NOTHING_MORE;
        case "queryCompleted":
          await report(context, "respondQueryTaskCompleted", response.value);
          return NOTHING_MORE;
        default:
          return NOTHING_MORE;
      }
    } catch (error) {
      realm.evict(task.head.runId);
      await this.#reportFailed(error, task, logger);
      return { next: undefined, lost: true };
    }
  }

  /** Sends the commands of a completed task. */
  async #reportCompleted(
    outcome: RealmOutcome,
    completion: Uint8Array,
    head: TaskHead,
    realm: Realm,
    logger: Logger,
  ): Promise<Reported> {
    const traced = this.#options.tracing?.completion(head, completion);
    const own = traced?.request ?? completion;
    const eager = this.#stopping ? undefined : this.#eager?.ask(own, outcome.notEager);
    const shown = outcome.shown && { runId: head.runId, ...outcome.shown };
    const request = concat([
      eager?.request ?? own,
      ...this.#tails(outcome, head, realm, shown),
    ]);
    const closes =
      outcome.evictionReason === EvictionReason.EVICTION_REASON_WORKFLOW_EXECUTION_ENDING;
    let answer: CompletionAnswer | undefined;
    try {
      const { limits, service } = this.#options;
      // An engine in this process has no limit of requests, and names reducers of large calls.
      const maxBytes = service.runsReducers === true ? Infinity : MAX_REQUEST_BYTES;
      const check = (encoded: Uint8Array) =>
        checkCompletion(encoded, limits, (message, bytes) => logger.warn(message, { bytes }));
      answer = readCompletionAnswer(
        await report(
          { ...this.#options, logger, maxBytes, check, shown },
          "respondWorkflowTaskCompleted",
          request,
        ),
      );
      this.#refusals.forget(head.runId);
      if (closes) this.recentRuns.forget(head.runId);
      if (closes) this.#options.taskMetrics?.reported(head, outcome, request);
      traced?.done(true);
    } catch (error) {
      traced?.done(false);
      throw error;
    } finally {
      // Also if the response was lost: the completion may have been recorded.
      if (!closes) this.recentRuns.note(head);
      eager?.answered(answer?.activities ?? []);
    }
    const { task: next, news } = answer;
    if (news !== undefined) realm.taskReported(head.runId, news);
    return { next: next === undefined ? undefined : this.#readNext(next, head), lost: false };
  }

  /** Logs why an outcome was not accepted and, where the service does not know, fails the task. */
  async #reportFailed(error: unknown, task: WorkflowTask, logger: Logger): Promise<void> {
    const { head } = task;
    const { taskMetrics, codec } = this.#options;
    if (hasCode(error, Code.NOT_FOUND)) {
      logger.debug("the workflow task timed out or its workflow is closed", { error });
    } else if (isUnhandledCommand(error)) {
      logger.debug(
        "an event arrived while the workflow was about to close; the service will send the task again",
      );
    } else if (isTooLarge(error)) {
      logger.error("the completion of a workflow task exceeds the size limit of the service", {
        error,
      });
      if (head.query === undefined) this.#failed(head, messageOf(error));
      taskMetrics?.failed(head, "GrpcMessageTooLarge");
      await this.#refuse(task, error, WorkflowTaskFailedCause.GRPC_MESSAGE_TOO_LARGE, logger);
    } else if (error instanceof PayloadTooLargeError) {
      // The server would terminate the run; a failed task lets it wait for a corrected version.
      logger.error(`a workflow task failed: ${error.message}`, { bytes: error.bytes });
      this.#failed(head, error.message);
      taskMetrics?.failed(head, "PayloadsTooLarge");
      await this.#refuse(task, error, WorkflowTaskFailedCause.PAYLOADS_TOO_LARGE, logger);
    } else if (error instanceof PayloadCodecError) {
      logger.error("the result of a workflow task could not be encoded", {
        error: loggable(error, codec),
      });
      if (head.query === undefined) this.#failed(head, error.message);
      taskMetrics?.failed(head, "WorkflowError");
      await this.#refuse(
        task,
        error,
        WorkflowTaskFailedCause.WORKFLOW_WORKER_UNHANDLED_FAILURE,
        logger,
      );
    } else if (hasCode(error, Code.INVALID_ARGUMENT) && head.query === undefined) {
      // The service has failed the task: it does not accept the workflow's commands.
      if (this.#refusals.note(head, error.message)) {
        logger.error("a workflow task failed: the service rejected its commands", { error });
      } else logger.debug("a workflow task failed again, for the same reason", { error });
      this.#failed(head, error.message);
      taskMetrics?.failed(head, "WorkflowError");
    } else {
      logger.error("a workflow task could not be reported", { error });
    }
  }

  /**
   * Fails a task without outcome. Only the first attempt is reported; later ones time out with
   * back-off.
   */
  async #refuse(
    task: WorkflowTask,
    error: unknown,
    cause: WorkflowTaskFailedCause,
    logger: Logger,
  ): Promise<void> {
    const { codec } = this.#options;
    try {
      await this.#sendRefusal(task, error, cause, { ...this.#options, logger });
    } catch (e) {
      if (!(e instanceof PayloadCodecError) || codec === undefined) {
        return this.#refusalLost(e, logger);
      }
      const failure = unencodable(error, e, codec);
      await this.#sendRefusal(task, failure, cause, { ...this.#options, logger, codec: undefined })
        .catch((last) => this.#refusalLost(last, logger));
    }
  }

  #refusalLost(error: unknown, logger: Logger): void {
    logger.debug("the failure of a workflow task could not be reported", { error });
  }

  async #sendRefusal(
    task: WorkflowTask,
    error: unknown,
    cause: WorkflowTaskFailedCause,
    context: ReportContext,
  ): Promise<void> {
    const { namespace, identity } = this.#options;
    const { query, attempt } = task.head;
    const taskToken = taskTokenOf(task);
    const failure = toFailure(error);
    if (query !== undefined) {
      const fields = {
        namespace,
        taskToken,
        completedType: QueryResultType.FAILED,
        errorMessage: failure.message,
        failure,
        cause,
      };
      const request = toBinary(
        RespondQueryTaskCompletedRequestSchema,
        create(RespondQueryTaskCompletedRequestSchema, fields),
      );
      await report(context, "respondQueryTaskCompleted", request);
    } else if (attempt <= 1) {
      const fields = {
        namespace,
        identity,
        taskToken,
        cause,
        failure,
        ...this.#options.deployment?.report,
      };
      const request = toBinary(
        RespondWorkflowTaskFailedRequestSchema,
        create(RespondWorkflowTaskFailedRequestSchema, fields),
      );
      await report(context, "respondWorkflowTaskFailed", request);
    }
  }
}

/** The closing command conflicts with a new event; the service has scheduled another task. */
function isUnhandledCommand(error: unknown): boolean {
  return hasCode(error, Code.INVALID_ARGUMENT) &&
    /UnhandledCommand/i.test(`${error.reason} ${error.message}`);
}

function isTooLarge(error: unknown): boolean {
  return hasCode(error, Code.RESOURCE_EXHAUSTED) &&
    (error.reason === MESSAGE_TOO_LARGE ||
      /message larger than max|grpc: received message/i.test(error.message));
}
