// A worker and a client without an SDK: they call RawService with hand-made messages. The workflow
// of these tests decides from the whole history each time (no sticky queue): it runs `steps`
// activities one after the other, with a timer before every third if `timers` is set, accepts
// signals, completes updates, and completes with what it saw. `stop` ends it early.
import { delay } from "@std/async/delay";
import { create, fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { CommandType } from "../../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import type { CommandSchema } from "../../../../ts/messages/generated/temporal/api/command/v1/message_pb.ts";
import type { HistoryEvent } from "../../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  AcceptanceSchema,
  RequestSchema,
  ResponseSchema,
} from "../../../../ts/messages/generated/temporal/api/update/v1/message_pb.ts";
import type { MessageSchema } from "../../../../ts/messages/generated/temporal/api/protocol/v1/message_pb.ts";
import type { PollWorkflowTaskQueueResponse } from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code, type RawService, ServiceError } from "../../../../ts/service/raw.ts";
import { type TypedService, typedService } from "../../../../ts/service/typed.ts";

const utf8 = new TextEncoder();
const text = new TextDecoder();

export const payloads = (value: unknown) => ({
  payloads: [{
    metadata: { encoding: utf8.encode("json/plain") },
    data: utf8.encode(JSON.stringify(value)),
  }],
});
export const decodePayloads = (list: { payloads: { data: Uint8Array }[] } | undefined): unknown => {
  const data = list?.payloads[0]?.data;
  return data === undefined ? undefined : JSON.parse(text.decode(data));
};

export interface Plan {
  steps: number;
  timers?: boolean;
  /** The workflow waits for this many signals before it completes. */
  signals?: number;
}

type Commands = MessageInitShape<typeof CommandSchema>[];
type Messages = MessageInitShape<typeof MessageSchema>[];

/** What the workflow has seen so far, from its history alone. */
export function seen(events: readonly HistoryEvent[]) {
  const state = {
    plan: { steps: 0 } as Plan,
    scheduled: 0,
    completed: [] as unknown[],
    timersStarted: 0,
    timersFired: 0,
    signals: [] as unknown[],
    accepted: [] as string[],
    closed: false,
  };
  for (const { attributes } of events) {
    switch (attributes.case) {
      case "workflowExecutionStartedEventAttributes":
        state.plan = decodePayloads(attributes.value.input) as Plan;
        break;
      case "activityTaskScheduledEventAttributes":
        state.scheduled++;
        break;
      case "activityTaskCompletedEventAttributes":
        state.completed.push(decodePayloads(attributes.value.result));
        break;
      case "timerStartedEventAttributes":
        state.timersStarted++;
        break;
      case "timerFiredEventAttributes":
        state.timersFired++;
        break;
      case "workflowExecutionSignaledEventAttributes":
        state.signals.push(decodePayloads(attributes.value.input));
        break;
      case "workflowExecutionUpdateAcceptedEventAttributes":
        state.accepted.push(attributes.value.acceptedRequest?.meta?.updateId ?? "");
        break;
      case "workflowExecutionCompletedEventAttributes":
        state.closed = true;
        break;
    }
  }
  return state;
}

function decide(
  task: PollWorkflowTaskQueueResponse,
  timeoutS: number,
): { commands: Commands; messages: Messages } {
  const state = seen(task.history!.events);
  const commands: Commands = [];
  const messages: Messages = [];
  for (const message of task.messages) {
    const request = fromBinary(RequestSchema, message.body!.value);
    const id = message.protocolInstanceId;
    const acceptance = create(AcceptanceSchema, {
      acceptedRequestMessageId: message.id,
      acceptedRequestSequencingEventId: message.sequencingId.value as bigint ?? 0n,
      acceptedRequest: request,
    });
    const answer = create(ResponseSchema, {
      meta: request.meta!,
      outcome: { value: { case: "success", value: payloads(`updated ${request.meta!.updateId}`) } },
    });
    messages.push({
      id: `${id}/accept`,
      protocolInstanceId: id,
      body: anyPack(AcceptanceSchema, acceptance),
    });
    messages.push({
      id: `${id}/complete`,
      protocolInstanceId: id,
      body: anyPack(ResponseSchema, answer),
    });
    for (const part of ["accept", "complete"]) {
      commands.push({
        commandType: CommandType.PROTOCOL_MESSAGE,
        attributes: {
          case: "protocolMessageCommandAttributes",
          value: { messageId: `${id}/${part}` },
        },
      });
    }
  }
  const { plan } = state;
  const needsTimer = plan.timers === true && state.completed.length % 3 === 2;
  if (state.scheduled > state.completed.length || state.timersStarted > state.timersFired) {
    return { commands, messages };
  }
  if (state.completed.length < plan.steps) {
    const step = state.completed.length + 1;
    if (needsTimer && state.timersStarted < Math.floor(step / 3)) {
      commands.push({
        commandType: CommandType.START_TIMER,
        attributes: {
          case: "startTimerCommandAttributes",
          value: { timerId: `t${step}`, startToFireTimeout: { seconds: 0n, nanos: 5_000_000 } },
        },
      });
    } else {
      commands.push({
        commandType: CommandType.SCHEDULE_ACTIVITY_TASK,
        attributes: {
          case: "scheduleActivityTaskCommandAttributes",
          value: {
            activityId: `step-${step}`,
            activityType: { name: "step" },
            taskQueue: { name: "q" },
            input: payloads(step),
            startToCloseTimeout: { seconds: BigInt(timeoutS) },
          },
        },
      });
    }
  } else if (state.signals.length >= (plan.signals ?? 0)) {
    commands.push({
      commandType: CommandType.COMPLETE_WORKFLOW_EXECUTION,
      attributes: {
        case: "completeWorkflowExecutionCommandAttributes",
        value: { result: payloads({ steps: state.completed, signals: state.signals }) },
      },
    });
  }
  return { commands, messages };
}

/** One caller of a service with short forms of the calls that these tests need. */
export class Script {
  readonly service: TypedService;
  readonly raw: RawService;
  readonly #timeoutS: number;
  /** How often each activity ran, by `workflow id/activity id`. */
  readonly executions = new Map<string, number>();
  #stop = new AbortController();
  #loops: Promise<void>[] = [];

  /**
   * `timeoutS`: of tasks, in seconds. Short, so that a task whose holder was lost is given again
   * soon; a holder that is slow loses it too.
   */
  constructor(raw: RawService, timeoutS = 1) {
    this.#timeoutS = timeoutS;
    this.raw = raw;
    this.service = typedService(raw);
  }

  async start(workflowId: string, plan: Plan, requestId = `start ${workflowId}`): Promise<string> {
    const { runId } = await this.service.startWorkflowExecution({
      namespace: "default",
      workflowId,
      workflowType: { name: "Steps" },
      taskQueue: { name: "q" },
      input: payloads(plan),
      workflowTaskTimeout: { seconds: BigInt(this.#timeoutS) },
      requestId,
    });
    return runId;
  }

  async signal(
    workflowId: string,
    value: unknown,
    requestId: string = crypto.randomUUID(),
  ): Promise<void> {
    await this.service.signalWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId },
      signalName: "s",
      input: payloads(value),
      requestId,
    });
  }

  async update(workflowId: string, updateId: string, timeoutMs?: number): Promise<unknown> {
    const answer = await this.service.updateWorkflowExecution({
      namespace: "default",
      workflowExecution: { workflowId },
      waitPolicy: { lifecycleStage: 3 },
      request: {
        meta: { updateId, identity: "script" },
        input: { name: "u", args: payloads(updateId) },
      },
    }, timeoutMs === undefined ? {} : { timeoutMs });
    if (answer.outcome?.value.case !== "success") {
      throw new Error(`update ${updateId} has no outcome`);
    }
    return decodePayloads(answer.outcome.value.value);
  }

  async history(workflowId: string, runId = ""): Promise<HistoryEvent[]> {
    const events: HistoryEvent[] = [];
    let nextPageToken = new Uint8Array(0);
    do {
      const page = await this.service.getWorkflowExecutionHistory({
        namespace: "default",
        execution: { workflowId, runId },
        nextPageToken,
      });
      events.push(...page.history!.events);
      nextPageToken = page.nextPageToken as Uint8Array<ArrayBuffer>;
    } while (nextPageToken.length > 0);
    return events;
  }

  /** Waits for the end of a run and returns its result. */
  async result(workflowId: string): Promise<{ steps: unknown[]; signals: unknown[] }> {
    let nextPageToken = new Uint8Array(0);
    for (;;) {
      const page = await this.service.getWorkflowExecutionHistory({
        namespace: "default",
        execution: { workflowId },
        waitNewEvent: true,
        historyEventFilterType: 2,
        nextPageToken,
      });
      nextPageToken = page.nextPageToken as Uint8Array<ArrayBuffer>;
      const last = page.history?.events.at(-1);
      if (last?.attributes.case === "workflowExecutionCompletedEventAttributes") {
        return decodePayloads(last.attributes.value.result) as {
          steps: unknown[];
          signals: unknown[];
        };
      }
      if (nextPageToken.length === 0) {
        throw new Error(`${workflowId} ended with ${last?.attributes.case}`);
      }
    }
  }

  /** One poll for a workflow task; undefined when the poll came back empty. */
  async pollWorkflow(): Promise<PollWorkflowTaskQueueResponse | undefined> {
    const task = await this.service.pollWorkflowTaskQueue(
      { namespace: "default", taskQueue: { name: "q" }, identity: "script" },
      { signal: this.#stop.signal },
    );
    if (task.taskToken.length === 0) return undefined;
    let { nextPageToken } = task;
    while (nextPageToken.length > 0) {
      const page = await this.service.getWorkflowExecutionHistory({
        namespace: "default",
        execution: task.workflowExecution!,
        nextPageToken,
      });
      task.history!.events.push(...page.history!.events);
      ({ nextPageToken } = page);
    }
    return task;
  }

  async completeTask(task: PollWorkflowTaskQueueResponse): Promise<void> {
    const { commands, messages } = decide(task, this.#timeoutS);
    await insist(() =>
      this.service.respondWorkflowTaskCompleted({
        namespace: "default",
        taskToken: task.taskToken,
        identity: "script",
        commands,
        messages,
      })
    );
  }

  async runActivity(): Promise<boolean> {
    const task = await this.service.pollActivityTaskQueue(
      { namespace: "default", taskQueue: { name: "q" }, identity: "script" },
      { signal: this.#stop.signal },
    );
    if (task.taskToken.length === 0) return false;
    const key = `${task.workflowExecution?.workflowId}/${task.activityId}`;
    this.executions.set(key, (this.executions.get(key) ?? 0) + 1);
    await insist(() =>
      this.service.respondActivityTaskCompleted({
        namespace: "default",
        taskToken: task.taskToken,
        identity: "script",
        result: payloads(decodePayloads(task.input)),
      })
    );
    return true;
  }

  /** Polls until `stopWorker`, like a worker that takes every refusal for a reason to try again. */
  startWorker(pollers = 1): void {
    for (let i = 0; i < pollers; i++) {
      this.#loops.push(this.#loop(async () => {
        const task = await this.pollWorkflow();
        if (task !== undefined) await this.completeTask(task);
      }));
      this.#loops.push(this.#loop(() => this.runActivity()));
    }
  }

  async #loop(turn: () => Promise<unknown>): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        await turn();
      } catch (e) {
        if (!(e instanceof ServiceError)) throw e;
        if (this.#stop.signal.aborted) return;
        // The engine lost the task (NOT_FOUND) or could not record the completion (UNAVAILABLE):
        // the task will be redelivered.
        if (e.code !== Code.NOT_FOUND && e.code !== Code.UNAVAILABLE) throw e;
        if (e.code === Code.UNAVAILABLE) await delay(5);
      }
    }
  }

  async stopWorker(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#loops);
    this.#loops = [];
    this.#stop = new AbortController();
  }
}

/** Repeats a call until it is acknowledged, as a client does with UNAVAILABLE. */
export async function insist<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (e) {
      if (!(e instanceof ServiceError) || e.code !== Code.UNAVAILABLE) throw e;
      await delay(5);
    }
  }
}
