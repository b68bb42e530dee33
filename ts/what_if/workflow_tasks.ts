// The workflow tasks of a branch, executed by the realm like all user code. If a command needs
// another workflow (a child, the target of a signal), that workflow is created before the engine
// gets the command.
import { create, fromBinary } from "@bufbuild/protobuf";
import type { LocalAnswer, RealmOutcome } from "../realm/realm.ts";
import {
  LocalActivityResolution,
  type LocalWork,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { readWorkflowTask, type WorkflowTask } from "../messages/workflow_task.ts";
import { toBinary } from "@bufbuild/protobuf";
import { FailureSchema } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  RespondWorkflowTaskCompletedRequestSchema,
  RespondWorkflowTaskFailedRequestSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import {
  type Payload,
  PayloadSchema,
} from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import { decodeLeniently } from "./activities.ts";
import type { Answers } from "./answers.ts";
import type { Children } from "./children.ts";
import { inputKey, type Recorded } from "./recorded.ts";
import type { AnsweredReducers } from "./reducers.ts";
import type { World } from "./world.ts";

/** Runs the workflow code: a realm of `temporalex/realm`, or another implementation. */
export interface TaskRealm {
  /** Runs a workflow task; `runLocally` runs its local activities. */
  runTask(
    task: WorkflowTask,
    runLocally?: (work: LocalWork) => Promise<LocalAnswer>,
  ): Promise<RealmOutcome>;
  /** Evicts the run from the cache. */
  evict(runId: string): void;
}

/** The code failed a task; a real run would wait for new code. */
export interface TaskFailure {
  readonly message: string;
  /** A WorkflowTaskFailedCause. */
  readonly cause: number;
}

interface Parts {
  readonly world: World;
  readonly realm: TaskRealm;
  readonly recorded: Recorded;
  readonly answers: Answers;
  readonly children: Children;
  readonly converter: PayloadConverter;
  readonly runId: string;
  /** Undefined: reducers are executed on the branch's tables. */
  readonly reducers: AnsweredReducers | undefined;
}

export class WorkflowTasks {
  readonly #parts: Parts;
  /** Task queues that may have tasks of the branch. */
  readonly workflowQueues = new Set<string>();
  readonly activityQueues = new Set<string>();
  /** Number of workflow tasks that the code completed. */
  completed = 0;
  failure: TaskFailure | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Polls the next task, from any queue that has one. */
  async take(queue: string): Promise<void> {
    const { world, children, realm, runId } = this.#parts;
    const polled = await world.workflowTask(queue);
    if (polled === undefined) return;
    if (polled.task.workflowExecution?.runId !== runId) return await children.work(polled.task);
    // The realm may have a cached run with the same ID, of another branch.
    realm.evict(runId);
    let outcome: RealmOutcome;
    try {
      const { head, bytes } = readWorkflowTask(polled.bytes);
      outcome = await realm.runTask(
        { head: { ...head, runsReducers: true }, bytes },
        (work) => Promise.resolve(this.#local(work)),
      );
    } finally {
      realm.evict(runId);
    }
    const { response } = outcome;
    if (response?.$case === "completed") return await this.#completed(response.value);
    const told = response?.$case === "failed"
      ? fromBinary(RespondWorkflowTaskFailedRequestSchema, response.value)
      : undefined;
    this.failure = {
      message: told?.failure?.message ?? outcome.error?.message ?? "the workflow task failed",
      cause: told?.cause ?? 0,
    };
  }

  async #completed(bytes: Uint8Array): Promise<void> {
    const { world } = this.#parts;
    const request = fromBinary(RespondWorkflowTaskCompletedRequestSchema, bytes);
    request.stickyAttributes = undefined;
    request.returnNewWorkflowTask = false;
    request.namespace = world.namespace;
    for (const { attributes } of request.commands) await this.#prepare(attributes);
    if (!this.#reducersKnown(request.commands)) return;
    this.completed++;
    try {
      await world.service.respondWorkflowTaskCompleted(request);
    } catch (error) {
      // If a message arrived meanwhile, the engine returns the task again. A completion that the
      // engine rejects fails the task, which is recorded in the history.
      if (!/UnhandledCommand/.test((error as Error).message)) {
        this.failure = { message: (error as Error).message, cause: 0 };
      }
    }
  }

  /**
   * Returns false if the result of a reducer is unknown or fails the task. The engine then does not
   * get the completion, and the task has no effect.
   */
  #reducersKnown(commands: readonly Command[]): boolean {
    const { answers, converter, reducers } = this.#parts;
    if (reducers === undefined) return true;
    let known = true;
    for (const { attributes } of commands) {
      if (
        attributes.case !== "recordMarkerCommandAttributes" ||
        attributes.value.markerName !== "Transact"
      ) continue;
      const told = reducers.prepare(attributes.value.details, answers, converter);
      if (told === undefined) continue;
      known = false;
      if (told !== "asks") this.failure = { message: told.fails, cause: 0 };
    }
    return known;
  }

  async #prepare(attributes: Command["attributes"]): Promise<void> {
    const { world, recorded, answers, children, converter } = this.#parts;
    switch (attributes.case) {
      case "scheduleActivityTaskCommandAttributes":
        attributes.value.requestEagerExecution = false;
        this.activityQueues.add(attributes.value.taskQueue?.name ?? "");
        break;
      case "startChildWorkflowExecutionCommandAttributes": {
        const { workflowId, workflowType, input, taskQueue } = attributes.value;
        const args = decodeLeniently(converter, input?.payloads);
        const answer = answers.of({
          of: "child",
          type: workflowType?.name ?? "",
          input: inputKey(input),
          eventId: 0,
          args,
        });
        if (answer.startFails) await world.other(workflowId);
        if (taskQueue !== undefined && taskQueue.name !== "") {
          this.workflowQueues.add(taskQueue.name);
        }
        children.know(workflowId, answer, world.nowMs);
        break;
      }
      case "signalExternalWorkflowExecutionCommandAttributes":
      case "requestCancelExternalWorkflowExecutionCommandAttributes": {
        const kind = attributes.case === "signalExternalWorkflowExecutionCommandAttributes"
          ? "signal"
          : "cancel";
        const workflowId = kind === "signal"
          ? (attributes.value as { execution?: { workflowId: string } }).execution?.workflowId ?? ""
          : (attributes.value as { workflowId?: string }).workflowId ?? "";
        if (
          !attributes.value.childWorkflowOnly &&
          !recorded.refusedExternals.has(`${kind} ${workflowId}`)
        ) {
          await world.other(workflowId);
        }
        break;
      }
    }
  }

  readonly #localEnds = new Map<number, Uint8Array>();

  /** Local activities end at once: a workflow task takes no virtual time. */
  #local(work: LocalWork): LocalAnswer {
    const { answers, converter } = this.#parts;
    for (
      const { seq, activityType, arguments: given, attempt, originalScheduleTimeMs } of work.start
    ) {
      const payloads = given.map(({ metadata, data }): Payload =>
        create(PayloadSchema, { metadata, data })
      );
      const args = decodeLeniently(converter, payloads);
      const { end, question } = answers.of({
        of: "local activity",
        type: activityType,
        input: "",
        eventId: 0,
        args,
      });
      if (
        question !== undefined || end.kind === "never" || end.kind === "timed out" ||
        end.kind === "terminated"
      ) {
        return {
          resolutions: [],
          failure: `local activity ${activityType} has no recorded answer`,
        };
      }
      const ended = {
        seq,
        attempt: Math.max(1, attempt),
        runtimeMs: 0,
        backoffMs: 0,
        originalScheduleTimeMs,
      };
      const result = end.kind === "completed"
        ? { $case: "completed" as const, value: completedWith(end.result?.payloads[0]) }
        : end.kind === "failed"
        ? {
          $case: "failed" as const,
          value: toBinary(FailureSchema, end.failure ?? create(FailureSchema)),
        }
        : { $case: "cancelled" as const, value: CANCELLED() };
      this.#localEnds.set(seq, LocalActivityResolution.encode({ ...ended, result }).finish());
    }
    for (const seq of work.abandon) this.#localEnds.delete(seq);
    if (!work.wait) return { resolutions: [] };
    const resolutions = [...this.#localEnds.values()];
    this.#localEnds.clear();
    return { resolutions };
  }
}

type Command = ReturnType<
  typeof fromBinary<typeof RespondWorkflowTaskCompletedRequestSchema>
>["commands"][number];

const completedWith = (payload: Payload | undefined) =>
  payload === undefined
    ? {}
    : { result: { metadata: payload.metadata, data: payload.data, externalPayloads: [] } };

const CANCELLED = (): Uint8Array =>
  toBinary(
    FailureSchema,
    create(FailureSchema, {
      message: "cancelled",
      failureInfo: { case: "canceledFailureInfo", value: {} },
    }),
  );
