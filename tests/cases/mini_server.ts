// A tiny server for one run, test support only: it holds the history as messages, hands out
// workflow tasks, and appends the events that a completion's commands make. No queues, no clock, no
// retries: tests say what happens outside, and when.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { anyPack, anyUnpack, type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { defaultPayloadConverter, toFailure } from "../../ts/converter/mod.ts";
import { fromPayloads, toPayloads } from "../../ts/converter/payload.ts";
import type { TaskOutcome } from "../../ts/core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Command } from "../../ts/messages/generated/temporal/api/command/v1/message_pb.ts";
import {
  type Payloads,
  PayloadsSchema,
} from "../../ts/messages/generated/temporal/api/common/v1/message_pb.ts";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import {
  type Failure,
  FailureSchema,
} from "../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  type HistoryEvent,
  HistoryEventSchema,
  HistorySchema,
} from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  type Message as ProtocolMessage,
  MessageSchema,
} from "../../ts/messages/generated/temporal/api/protocol/v1/message_pb.ts";
import {
  AcceptanceSchema,
  RejectionSchema,
  RequestSchema,
  ResponseSchema,
} from "../../ts/messages/generated/temporal/api/update/v1/message_pb.ts";
import {
  PollWorkflowTaskQueueResponseSchema,
  RespondQueryTaskCompletedRequestSchema,
  type RespondWorkflowTaskCompletedRequest,
  RespondWorkflowTaskCompletedRequestSchema,
  RespondWorkflowTaskFailedRequestSchema,
} from "../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

import { NexusOperations } from "./mini_nexus.ts";
import { OtherWorkflows } from "./mini_others.ts";
import { type Marker, reduced } from "./mini_reducers.ts";

type EventInit = Parameters<typeof create<typeof HistoryEventSchema>>[1];
type Attributes = NonNullable<HistoryEvent["attributes"]>;

export interface PendingActivity {
  readonly id: string;
  readonly type: string;
  readonly args: unknown[];
  readonly scheduledEventId: bigint;
  cancelRequested: boolean;
}

export interface UpdateState {
  readonly id: string;
  readonly name: string;
  stage: "sent" | "accepted" | "completed" | "rejected";
  result?: unknown;
  failure?: Failure;
}

/** The first detail of a cancellation. */
const ofDetails = (details: readonly unknown[]) =>
  details.length === 0 ? {} : { result: details[0] };

/** How the run was closed. */
export interface Closed {
  readonly kind: "completed" | "failed" | "cancelled" | "continued";
  /** Of a canceled run: the first detail. */
  readonly result?: unknown;
  readonly failure?: Failure;
  /** For continued: what the next run starts with. */
  readonly next?: {
    readonly args: unknown[];
    readonly headers: HeaderFields;
    readonly workflowType: string;
  };
}

export type HeaderFields = {
  [key: string]: { metadata: { [key: string]: Uint8Array }; data: Uint8Array };
};

export interface StartOptions {
  readonly args?: readonly unknown[];
  readonly headers?: HeaderFields;
  readonly runId?: string;
  readonly memo?: { readonly [key: string]: unknown };
  /** More fields of the start event. */
  readonly started?: { readonly [field: string]: unknown };
}

export const payloads = (values: readonly unknown[]): Payloads =>
  create(PayloadsSchema, { payloads: toPayloads(defaultPayloadConverter, values) });
export const values = (message: Payloads | undefined): unknown[] =>
  fromPayloads(defaultPayloadConverter, message?.payloads);

const START_MS = Date.UTC(2026, 0, 1);

export class MiniServer {
  readonly workflowId = "wf";
  readonly runId: string;
  readonly workflowType: string;
  readonly events: HistoryEvent[] = [];
  readonly timers = new Map<string, bigint>();
  readonly activities = new Map<string, PendingActivity>();
  readonly updates = new Map<string, UpdateState>();
  /** Children, and messages to other workflows. */
  readonly others = new OtherWorkflows({
    append: (type, attributes) => this.append(type, attributes),
    outside: (type, attributes) => this.#outside(type, attributes),
  });
  readonly nexus = new NexusOperations({
    append: (type, attributes) => this.append(type, attributes),
    outside: (type, attributes) => this.#outside(type, attributes),
  });
  closed: Closed | undefined;
  /** The failure of the last failed workflow task. */
  taskFailure: { readonly cause: number; readonly failure: Failure } | undefined;
  queryAnswers: { [id: string]: { ok: boolean; value?: unknown; message: string } } = {};
  nowMs = START_MS;
  /** Tasks that are opened from now on say that continue-as-new is suggested. */
  suggestsContinueAsNew = false;
  attempt = 1;
  /** A reducer has returned to code that waits: the same commit schedules the next task. */
  hasAnswer = false;
  #outbox: ProtocolMessage[] = [];
  #lastStarted = 0n;
  #previousStarted = 0n;
  #openTask: { scheduled: bigint; started: bigint } | undefined;
  #buffered: EventInit[] = [];

  constructor(workflowType: string, options: StartOptions = {}) {
    this.workflowType = workflowType;
    this.runId = options.runId ?? "11111111-2222-4333-8444-555555555555";
    const memo = Object.entries(options.memo ?? {}).map((
      [k, v],
    ) => [k, defaultPayloadConverter.toPayload(v)]);
    this.append(EventType.WORKFLOW_EXECUTION_STARTED, {
      case: "workflowExecutionStartedEventAttributes",
      value: {
        workflowType: { name: workflowType },
        taskQueue: { name: "q" },
        input: payloads(options.args ?? []),
        originalExecutionRunId: this.runId,
        firstExecutionRunId: this.runId,
        attempt: 1,
        workflowId: this.workflowId,
        workflowTaskTimeout: { seconds: 10n },
        header: { fields: options.headers ?? {} },
        memo: { fields: Object.fromEntries(memo) },
        ...options.started,
      },
    } as never);
  }

  append(eventType: EventType, attributes: unknown): HistoryEvent {
    const event = create(HistoryEventSchema, {
      eventId: BigInt(this.events.length + 1),
      eventTime: timestampFromMs(this.nowMs) as Timestamp,
      eventType,
      attributes: attributes as Attributes,
    });
    this.events.push(event);
    return event;
  }

  /** An event from outside; while a task is open it is buffered, as a server does. */
  #outside(eventType: EventType, attributes: unknown): void {
    if (this.closed !== undefined) throw new Error("the run is closed");
    if (this.#openTask === undefined) this.append(eventType, attributes);
    else this.#buffered.push({ eventType, attributes } as EventInit);
  }

  signal(name: string, ...args: unknown[]): void {
    this.#outside(EventType.WORKFLOW_EXECUTION_SIGNALED, {
      case: "workflowExecutionSignaledEventAttributes",
      value: { signalName: name, input: payloads(args), identity: "test" },
    });
  }

  requestCancel(reason = ""): void {
    this.#outside(EventType.WORKFLOW_EXECUTION_CANCEL_REQUESTED, {
      case: "workflowExecutionCancelRequestedEventAttributes",
      value: { cause: reason, identity: "test" },
    });
  }

  /** Sends an update with the next workflow task. */
  update(id: string, name: string, ...args: unknown[]): UpdateState {
    const state: UpdateState = { id, name, stage: "sent" };
    this.updates.set(id, state);
    const request = create(RequestSchema, {
      meta: { updateId: id, identity: "test" },
      input: { name, args: payloads(args) },
    });
    this.#outbox.push(
      create(MessageSchema, {
        id: `${id}/request`,
        protocolInstanceId: id,
        body: anyPack(RequestSchema, request),
      }),
    );
    return state;
  }

  fireTimer(id: string): void {
    const startedEventId = this.timers.get(id);
    if (startedEventId === undefined) {
      throw new Error(`no timer ${id}; open: ${[...this.timers.keys()]}`);
    }
    this.timers.delete(id);
    this.#outside(EventType.TIMER_FIRED, {
      case: "timerFiredEventAttributes",
      value: { timerId: id, startedEventId },
    });
  }

  #closeActivity(id: string): PendingActivity & { startedEventId: bigint } {
    const activity = this.activities.get(id);
    if (activity === undefined) {
      throw new Error(`no activity ${id}; open: ${[...this.activities.keys()]}`);
    }
    this.activities.delete(id);
    const started = this.append(EventType.ACTIVITY_TASK_STARTED, {
      case: "activityTaskStartedEventAttributes",
      value: { scheduledEventId: activity.scheduledEventId, identity: "test", attempt: 1 },
    });
    return { ...activity, startedEventId: started.eventId };
  }

  completeActivity(id: string, result?: unknown): void {
    const { scheduledEventId, startedEventId } = this.#closeActivity(id);
    this.append(EventType.ACTIVITY_TASK_COMPLETED, {
      case: "activityTaskCompletedEventAttributes",
      value: { scheduledEventId, startedEventId, result: payloads([result]), identity: "test" },
    });
  }

  failActivity(id: string, error: unknown): void {
    const { scheduledEventId, startedEventId } = this.#closeActivity(id);
    this.append(EventType.ACTIVITY_TASK_FAILED, {
      case: "activityTaskFailedEventAttributes",
      value: {
        scheduledEventId,
        startedEventId,
        failure: toFailure(error),
        identity: "test",
        retryState: 1,
      },
    });
  }

  cancelActivity(id: string): void {
    const { scheduledEventId, startedEventId } = this.#closeActivity(id);
    this.append(EventType.ACTIVITY_TASK_CANCELED, {
      case: "activityTaskCanceledEventAttributes",
      value: { scheduledEventId, startedEventId, identity: "test" },
    });
  }

  history(upTo = this.events.length): Uint8Array {
    return toBinary(HistorySchema, create(HistorySchema, { events: this.events.slice(0, upTo) }));
  }

  /**
   * Opens a workflow task: bytes of PollWorkflowTaskQueueResponse. `sticky`: only what is new since
   * the last completed task.
   */
  openTask(
    options: { sticky?: boolean; queries?: { [id: string]: { type: string; args: unknown[] } } } =
      {},
  ): Uint8Array {
    this.nowMs += 1000;
    this.hasAnswer = false;
    const scheduled = this.append(EventType.WORKFLOW_TASK_SCHEDULED, {
      case: "workflowTaskScheduledEventAttributes",
      value: { taskQueue: { name: "q" }, attempt: this.attempt },
    }).eventId;
    const started = this.append(EventType.WORKFLOW_TASK_STARTED, {
      case: "workflowTaskStartedEventAttributes",
      value: {
        scheduledEventId: scheduled,
        identity: "test",
        historySizeBytes: BigInt(this.events.length * 100),
        suggestContinueAsNew: this.suggestsContinueAsNew,
      },
    }).eventId;
    this.#openTask = { scheduled, started };
    const from = options.sticky === true && this.#previousStarted > 0n
      ? Number(this.#previousStarted)
      : 0;
    const messages = this.#outbox.map((message) =>
      create(MessageSchema, { ...message, sequencingId: { case: "eventId", value: started - 1n } })
    );
    const queries = Object.entries(options.queries ?? {}).map((
      [id, { type, args }],
    ) => [id, { queryType: type, queryArgs: payloads(args) }]);
    return toBinary(
      PollWorkflowTaskQueueResponseSchema,
      create(PollWorkflowTaskQueueResponseSchema, {
        taskToken: new TextEncoder().encode(`token-${started}`),
        workflowExecution: { workflowId: this.workflowId, runId: this.runId },
        workflowType: { name: this.workflowType },
        previousStartedEventId: this.#previousStarted,
        startedEventId: started,
        attempt: this.attempt,
        history: { events: this.events.slice(from) },
        workflowExecutionTaskQueue: { name: "q" },
        messages,
        queries: Object.fromEntries(queries),
      }),
    );
  }

  /** A query in a separate task (the legacy kind): bytes of a task that carries nothing else. */
  queryTask(type: string, args: unknown[], sticky: boolean): Uint8Array {
    return toBinary(
      PollWorkflowTaskQueueResponseSchema,
      create(PollWorkflowTaskQueueResponseSchema, {
        taskToken: new TextEncoder().encode("query"),
        workflowExecution: { workflowId: this.workflowId, runId: this.runId },
        workflowType: { name: this.workflowType },
        previousStartedEventId: this.#previousStarted,
        attempt: 1,
        ...(sticky ? {} : { history: { events: this.events } }),
        workflowExecutionTaskQueue: { name: "q" },
        query: { queryType: type, queryArgs: payloads(args) },
      }),
    );
  }

  /** Takes the outcome of the open task. */
  report(outcome: TaskOutcome): void {
    const response = outcome.response;
    switch (response?.$case) {
      case "completed":
        return this.#completed(
          fromBinary(RespondWorkflowTaskCompletedRequestSchema, response.value),
        );
      case "failed": {
        const request = fromBinary(RespondWorkflowTaskFailedRequestSchema, response.value);
        this.#taskFailed(request.cause, request.failure!);
        return;
      }
      case "queryCompleted": {
        const answer = fromBinary(RespondQueryTaskCompletedRequestSchema, response.value);
        this.queryAnswers = {
          query: {
            ok: answer.completedType === 1,
            value: values(answer.queryResult)[0],
            message: answer.errorMessage,
          },
        };
        return;
      }
      case "nothing":
        this.#taskFailed(14, create(FailureSchema, { message: outcome.error?.message ?? "" }));
        return;
      default:
        throw new Error(`unexpected outcome ${response?.$case}`);
    }
  }

  #taskFailed(cause: number, failure: Failure): void {
    const { scheduled, started } = this.#openTask!;
    this.#openTask = undefined;
    this.taskFailure = { cause, failure };
    this.append(EventType.WORKFLOW_TASK_FAILED, {
      case: "workflowTaskFailedEventAttributes",
      value: {
        scheduledEventId: scheduled,
        startedEventId: started,
        cause,
        failure,
        identity: "test",
      },
    });
    this.#flushBuffered();
  }

  #flushBuffered(): void {
    for (
      const { eventType, attributes } of this.#buffered.splice(0) as {
        eventType: EventType;
        attributes: unknown;
      }[]
    ) {
      this.append(eventType, attributes);
    }
  }

  #completed(request: RespondWorkflowTaskCompletedRequest): void {
    const { scheduled, started } = this.#openTask!;
    this.#openTask = undefined;
    this.taskFailure = undefined;
    this.#outbox = [];
    const taskCompleted = this.append(EventType.WORKFLOW_TASK_COMPLETED, {
      case: "workflowTaskCompletedEventAttributes",
      value: {
        scheduledEventId: scheduled,
        startedEventId: started,
        identity: "test",
        sdkMetadata: request.sdkMetadata,
      },
    }).eventId;
    this.#previousStarted = started;
    this.#lastStarted = started;
    for (const message of request.messages) {
      const rejection = anyUnpack(message.body!, RejectionSchema);
      if (rejection === undefined) continue;
      const update = this.updates.get(message.protocolInstanceId)!;
      update.stage = "rejected";
      update.failure = rejection.failure;
    }
    for (const command of request.commands) {
      const before = this.events.length;
      this.#command(command, request.messages, taskCompleted);
      for (const event of this.events.slice(before)) {
        event.eventGroupMarkers = command.eventGroupMarkers;
      }
    }
    for (const [id, result] of Object.entries(request.queryResults)) {
      this.queryAnswers[id] = {
        ok: result.resultType === 1,
        value: values(result.answer)[0],
        message: result.errorMessage,
      };
    }
    this.#flushBuffered();
  }

  #command(
    command: Command,
    messages: ProtocolMessage[],
    workflowTaskCompletedEventId: bigint,
  ): void {
    const task = { workflowTaskCompletedEventId };
    if (this.others.command(command, task) || this.nexus.command(command, task)) return;
    const { commandType, attributes } = command;
    switch (attributes.case) {
      case "startTimerCommandAttributes": {
        const event = this.append(EventType.TIMER_STARTED, {
          case: "timerStartedEventAttributes",
          value: { ...bare(attributes.value), ...task },
        });
        if (command.userMetadata !== undefined) event.userMetadata = command.userMetadata;
        this.timers.set(attributes.value.timerId, event.eventId);
        return;
      }
      case "cancelTimerCommandAttributes": {
        const { timerId } = attributes.value;
        const startedEventId = this.timers.get(timerId);
        if (startedEventId === undefined) {
          throw new Error(`cancel of timer ${timerId}, which is not open`);
        }
        this.timers.delete(timerId);
        this.append(EventType.TIMER_CANCELED, {
          case: "timerCanceledEventAttributes",
          value: { timerId, startedEventId, identity: "test", ...task },
        });
        return;
      }
      case "scheduleActivityTaskCommandAttributes": {
        const { activityId, activityType, input } = attributes.value;
        const event = this.append(EventType.ACTIVITY_TASK_SCHEDULED, {
          case: "activityTaskScheduledEventAttributes",
          value: { ...bare(attributes.value), ...task },
        });
        this.activities.set(activityId, {
          id: activityId,
          type: activityType!.name,
          args: values(input),
          scheduledEventId: event.eventId,
          cancelRequested: false,
        });
        return;
      }
      case "requestCancelActivityTaskCommandAttributes": {
        const { scheduledEventId } = attributes.value;
        for (const activity of this.activities.values()) {
          if (activity.scheduledEventId === scheduledEventId) activity.cancelRequested = true;
        }
        this.append(EventType.ACTIVITY_TASK_CANCEL_REQUESTED, {
          case: "activityTaskCancelRequestedEventAttributes",
          value: { scheduledEventId, ...task },
        });
        return;
      }
      case "recordMarkerCommandAttributes": {
        const marker = bare(attributes.value) as unknown as Marker;
        this.hasAnswer = reduced(marker) || this.hasAnswer;
        this.append(EventType.MARKER_RECORDED, {
          case: "markerRecordedEventAttributes",
          value: { ...marker, ...task },
        });
        return;
      }
      case "upsertWorkflowSearchAttributesCommandAttributes":
        this.append(EventType.UPSERT_WORKFLOW_SEARCH_ATTRIBUTES, {
          case: "upsertWorkflowSearchAttributesEventAttributes",
          value: { ...bare(attributes.value), ...task },
        });
        return;
      case "protocolMessageCommandAttributes":
        return this.#message(
          messages.find((message) => message.id === attributes.value.messageId)!,
        );
      case "completeWorkflowExecutionCommandAttributes":
        this.append(EventType.WORKFLOW_EXECUTION_COMPLETED, {
          case: "workflowExecutionCompletedEventAttributes",
          value: { ...bare(attributes.value), ...task },
        });
        this.closed = { kind: "completed", result: values(attributes.value.result)[0] };
        return;
      case "failWorkflowExecutionCommandAttributes":
        this.append(EventType.WORKFLOW_EXECUTION_FAILED, {
          case: "workflowExecutionFailedEventAttributes",
          value: { ...bare(attributes.value), ...task },
        });
        this.closed = { kind: "failed", failure: attributes.value.failure };
        return;
      case "cancelWorkflowExecutionCommandAttributes":
        this.append(EventType.WORKFLOW_EXECUTION_CANCELED, {
          case: "workflowExecutionCanceledEventAttributes",
          value: { ...bare(attributes.value), ...task },
        });
        this.closed = { kind: "cancelled", ...ofDetails(values(attributes.value.details)) };
        return;
      case "continueAsNewWorkflowExecutionCommandAttributes": {
        const { input, header, workflowType } = attributes.value;
        this.append(EventType.WORKFLOW_EXECUTION_CONTINUED_AS_NEW, {
          case: "workflowExecutionContinuedAsNewEventAttributes",
          value: { ...bare(attributes.value), newExecutionRunId: "next", ...task },
        });
        const next = {
          args: values(input),
          headers: { ...header?.fields },
          workflowType: workflowType?.name ?? "",
        };
        this.closed = { kind: "continued", next };
        return;
      }
      default:
        throw new Error(
          `the test server does not know command ${attributes.case} (type ${commandType})`,
        );
    }
  }

  #message(message: ProtocolMessage): void {
    const update = this.updates.get(message.protocolInstanceId)!;
    const acceptance = anyUnpack(message.body!, AcceptanceSchema);
    if (acceptance !== undefined) {
      update.stage = "accepted";
      this.append(EventType.WORKFLOW_EXECUTION_UPDATE_ACCEPTED, {
        case: "workflowExecutionUpdateAcceptedEventAttributes",
        value: { protocolInstanceId: message.protocolInstanceId, ...bare(acceptance) },
      });
      return;
    }
    const response = anyUnpack(message.body!, ResponseSchema)!;
    if (update.stage !== "accepted") {
      throw new Error(`update ${update.id} was completed in stage ${update.stage}`);
    }
    update.stage = "completed";
    const outcome = response.outcome!.value;
    if (outcome.case === "success") update.result = values(outcome.value)[0];
    else if (outcome.case === "failure") update.failure = outcome.value;
    this.append(EventType.WORKFLOW_EXECUTION_UPDATE_COMPLETED, {
      case: "workflowExecutionUpdateCompletedEventAttributes",
      value: { meta: response.meta, outcome: response.outcome },
    });
  }

  /** Started event of the last completed task. */
  get lastStarted(): bigint {
    return this.#lastStarted;
  }
}

/** A message's fields as an initializer for another message that shares them. */
export function bare(message: { readonly $typeName: string }): { [field: string]: unknown } {
  const { $typeName: _type, $unknown: _unknown, ...fields } = message as {
    [field: string]: unknown;
  };
  return fields;
}
