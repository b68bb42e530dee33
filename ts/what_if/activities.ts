// The activities of a branch: polled from the engine's task queues like a worker, and completed
// with the branch's results at their times.
import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import { PendingActivityState } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import {
  type Failure,
  FailureSchema,
} from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { PollActivityTaskQueueResponse } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { fromPayloads, type PayloadConverter } from "../converter/payload.ts";
import type { Agenda } from "./agenda.ts";
import type { Answer, Answers } from "./answers.ts";
import { inputKey } from "./recorded.ts";
import { IDENTITY, type World } from "./world.ts";

interface Known {
  readonly answer: Answer;
  /** Time of the first schedule. */
  readonly startMs: number;
}

interface Parts {
  readonly world: World;
  readonly agenda: Agenda;
  readonly answers: Answers;
  readonly converter: PayloadConverter;
  readonly execution: { readonly workflowId: string; readonly runId: string };
}

const msOf = (duration: Duration | undefined): number =>
  duration === undefined ? 0 : Number(duration.seconds) * 1000 + duration.nanos / 1e6;

export class Activities {
  readonly #parts: Parts;
  readonly #known = new Map<string, Known>();
  /** Activities that end when the code cancels them. */
  readonly #untilCancelled = new Map<
    string,
    { readonly task: PollActivityTaskQueueResponse; readonly known: Known }
  >();
  /** Activity IDs of questions, by key. */
  readonly asked = new Map<string, string>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Registers an activity of the prefix. */
  know(activityId: string, answer: Answer, startMs: number): void {
    this.#known.set(activityId, { answer, startMs });
  }

  /** Polls the next activity task, from any queue that has one. */
  async take(queue: string): Promise<void> {
    const { world, answers, converter } = this.#parts;
    const task = await world.service.pollActivityTaskQueue({
      ...{ namespace: world.namespace, taskQueue: { name: queue }, identity: IDENTITY },
    });
    if (task.taskToken.length === 0) return;
    let known = this.#known.get(task.activityId);
    if (known === undefined) {
      const type = task.activityType?.name ?? "";
      const input = inputKey(task.input);
      const args = decodeLeniently(converter, task.input?.payloads ?? []);
      const answer = answers.of({ of: "activity", type, input, eventId: 0, args });
      if (answer.question !== undefined) this.asked.set(answer.question.key, task.activityId);
      const { seconds = 0n, nanos = 0 } = task.scheduledTime ?? {};
      known = { answer, startMs: Number(seconds) * 1000 + nanos / 1e6 };
      this.#known.set(task.activityId, known);
    }
    await this.#answer(task, known);
  }

  async #answer(task: PollActivityTaskQueueResponse, known: Known): Promise<void> {
    const { world, agenda } = this.#parts;
    const { answer: { end, afterMs, lastStartMs, attempt }, startMs } = known;
    const now = world.nowMs;
    switch (end.kind) {
      case "timed out":
      case "terminated":
      case "never":
        // Only the engine's timeouts can end it now.
        return;
      case "failed": {
        const final = end.failure?.failureInfo.case === "applicationFailureInfo" &&
          end.failure.failureInfo.value.nonRetryable;
        const at = final || task.attempt >= attempt ? Math.max(now, startMs + afterMs) : now;
        this.#hold(task, at);
        agenda.at(at, () => this.#fail(task, end.failure));
        return;
      }
      case "cancelled":
        this.#untilCancelled.set(task.activityId, { task, known });
        agenda.at(Math.max(now, startMs + afterMs), () => Promise.resolve());
        return;
      case "completed": {
        const limit = msOf(task.startToCloseTimeout);
        let at = Math.max(now, startMs + afterMs);
        if (limit > 0 && at - now >= limit) {
          const began = startMs + lastStartMs;
          const tries = task.retryPolicy?.maximumAttempts ?? 1;
          // The last attempt began later: until then this attempt fails.
          if (began > now && (tries === 0 || task.attempt < tries)) {
            return await this.#fail(task, laterAttempt(began - now));
          }
          at = now + limit - 1;
        }
        this.#hold(task, at);
        agenda.at(at, () =>
          ignored(world.service.respondActivityTaskCompleted({
            ...{ namespace: world.namespace, taskToken: task.taskToken, identity: IDENTITY },
            ...(end.result !== undefined && { result: end.result }),
          })));
      }
    }
  }

  /** The activity runs until then: send due heartbeats. */
  #hold(task: PollActivityTaskQueueResponse, untilMs: number): void {
    const { world, agenda } = this.#parts;
    const every = msOf(task.heartbeatTimeout) * 0.8;
    const { taskToken } = task;
    if (every <= 0) return;
    const beat = (at: number): void => {
      if (at >= untilMs) return;
      agenda.at(at, async () => {
        await ignored(
          world.service.recordActivityTaskHeartbeat({
            namespace: world.namespace,
            taskToken,
            identity: IDENTITY,
          }),
        );
        beat(at + every);
      });
    };
    beat(world.nowMs + every);
  }

  async #fail(task: PollActivityTaskQueueResponse, failure: Failure | undefined): Promise<void> {
    const { world } = this.#parts;
    await ignored(world.service.respondActivityTaskFailed({
      ...{ namespace: world.namespace, taskToken: task.taskToken, identity: IDENTITY },
      failure: failure ?? create(FailureSchema, { message: "activity failed" }),
    }));
  }

  /**
   * Ends activities that the code canceled and whose time has come. Returns whether there were any.
   */
  async cancelled(): Promise<boolean> {
    if (this.#untilCancelled.size === 0) return false;
    const { world, execution } = this.#parts;
    const run = await world.service.describeWorkflowExecution({
      namespace: world.namespace,
      execution,
    }).catch(() => undefined);
    let any = false;
    for (const { activityId, state } of run?.pendingActivities ?? []) {
      const held = this.#untilCancelled.get(activityId);
      if (state !== PendingActivityState.CANCEL_REQUESTED || held === undefined) continue;
      const { task: { taskToken }, known: { startMs, answer } } = held;
      if (world.nowMs < startMs + answer.afterMs) continue;
      this.#untilCancelled.delete(activityId);
      any = true;
      const details = answer.end.kind === "cancelled" ? answer.end.details : undefined;
      await ignored(world.service.respondActivityTaskCanceled({
        ...{ namespace: world.namespace, taskToken, identity: IDENTITY },
        ...(details !== undefined && { details }),
      }));
    }
    return any;
  }
}

/** The run may have ended, or the activity timed out. */
const ignored = (call: Promise<unknown>): Promise<void> => call.then(() => {}, () => {});

function laterAttempt(ms: number): Failure {
  const nextRetryDelay = {
    seconds: BigInt(Math.floor(ms / 1000)),
    nanos: Math.round((ms % 1000) * 1e6),
  };
  return create(FailureSchema, {
    message: "an earlier attempt, of which history has no more than that there was one",
    failureInfo: {
      case: "applicationFailureInfo",
      value: { type: "EarlierAttempt", nextRetryDelay },
    },
  });
}

/** Decodes the arguments, as many as possible. */
export function decodeLeniently(
  converter: PayloadConverter,
  payloads: Parameters<typeof fromPayloads>[1],
): readonly unknown[] {
  try {
    return fromPayloads(converter, payloads);
  } catch {
    return [`${payloads?.length ?? 0} encoded`];
  }
}
