// Tracks the pending calls of tests and workers to a test server, and the tasks of workers. Time is
// skipped only if neither would change what happens next. Works with workers of any SDK.
import { fromBinary } from "@bufbuild/protobuf";
import type { CallOptions, MethodName, RawService } from "../../service/raw.ts";
import { awaits } from "../../testing/observed_service.ts";
import type { WorkInHand } from "../../testing/time.ts";
import {
  GetWorkflowExecutionHistoryRequestSchema,
  type PollActivityTaskQueueResponse,
  PollActivityTaskQueueResponseSchema,
  type PollWorkflowTaskQueueResponse,
  PollWorkflowTaskQueueResponseSchema,
  RespondActivityTaskCanceledByIdRequestSchema,
  RespondActivityTaskCanceledRequestSchema,
  RespondActivityTaskCompletedByIdRequestSchema,
  RespondActivityTaskCompletedRequestSchema,
  RespondActivityTaskFailedByIdRequestSchema,
  RespondActivityTaskFailedRequestSchema,
  RespondQueryTaskCompletedRequestSchema,
  RespondWorkflowTaskCompletedRequestSchema,
  RespondWorkflowTaskCompletedResponseSchema,
  RespondWorkflowTaskFailedRequestSchema,
  StartWorkflowExecutionResponseSchema,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

/** An attempt of an activity in a worker. */
export interface HeldActivity {
  readonly workflowId: string;
  readonly runId: string;
  readonly activityId: string;
  readonly attempt: number;
}

/** A workflow task in a worker. */
interface HeldWorkflowTask {
  readonly workflowId: string;
  readonly runId: string;
  readonly attempt: number;
}

/** A failed workflow task. */
export interface FailedWorkflowTask extends HeldWorkflowTask {
  readonly message: string;
}

interface HeldTask {
  readonly token: string;
  /** Undefined for a workflow task. */
  readonly activity?: HeldActivity;
  readonly workflowTask?: HeldWorkflowTask;
}

/** Calls that wait for an event and change nothing. */
const WAITING: ReadonlySet<MethodName> = new Set<MethodName>([
  "pollWorkflowTaskQueue",
  "pollActivityTaskQueue",
  "pollNexusTaskQueue",
  "pollWorkflowExecutionUpdate",
  "updateWorkflowExecution",
  "executeMultiOperation",
  "queryWorkflow",
]);

/** Calls that wait for an update. */
const UPDATES: ReadonlySet<MethodName> = new Set<MethodName>([
  "updateWorkflowExecution",
  "executeMultiOperation",
  "pollWorkflowExecutionUpdate",
]);

/** Calls of clients that change something; workers use others. */
const ACTS = /^(?:start|signal|request|terminate|reset|create|patch|delete)/;

/** Requests that complete a task. */
const BY_TOKEN = {
  respondWorkflowTaskCompleted: RespondWorkflowTaskCompletedRequestSchema,
  respondWorkflowTaskFailed: RespondWorkflowTaskFailedRequestSchema,
  respondQueryTaskCompleted: RespondQueryTaskCompletedRequestSchema,
  respondActivityTaskCompleted: RespondActivityTaskCompletedRequestSchema,
  respondActivityTaskFailed: RespondActivityTaskFailedRequestSchema,
  respondActivityTaskCanceled: RespondActivityTaskCanceledRequestSchema,
} as const;
const BY_ID = {
  respondActivityTaskCompletedById: RespondActivityTaskCompletedByIdRequestSchema,
  respondActivityTaskFailedById: RespondActivityTaskFailedByIdRequestSchema,
  respondActivityTaskCanceledById: RespondActivityTaskCanceledByIdRequestSchema,
} as const;

const formatToken = (token: Uint8Array): string =>
  Array.from(token, (byte) => String.fromCharCode(byte)).join("");

export class ObservedCalls implements RawService, WorkInHand {
  readonly #service: RawService;
  /** By what can be processed once: a run's workflow task, an activity. */
  readonly #held = new Map<string, HeldTask>();
  /**
   * Waits of clients for an update, by key: their number, and for how many the server has a call.
   */
  readonly #expected = new Map<string, { waits: number; here: number }>();
  #busy = 0;
  #acts = 0;
  /** Runs whose last workflow task failed; workers let further attempts time out. */
  readonly failing: Map<string, FailedWorkflowTask> = new Map<string, FailedWorkflowTask>();
  /** Called when a worker has failed a workflow task. */
  onWorkflowTaskFailed: (failed: FailedWorkflowTask) => void = () => {};

  constructor(service: RawService) {
    this.#service = service;
  }

  /**
   * Pending calls that may change something, including those between a waiting client and the
   * server.
   */
  get busy(): number {
    let onTheWay = 0;
    for (const { waits, here } of this.#expected.values()) onTheWay += Math.max(0, waits - here);
    return this.#busy + onTheWay;
  }

  /** Registers a client that waits for an update. Returns a function that ends it. */
  expect(key: string): () => void {
    const expected = this.#expected.get(key) ?? { waits: 0, here: 0 };
    this.#expected.set(key, expected);
    expected.waits++;
    return () => {
      if (--expected.waits === 0) this.#expected.delete(key);
    };
  }

  /** Grows with each call by which a test continues. */
  get acts(): number {
    return this.#acts;
  }

  get busyTasks(): number {
    return this.#held.size;
  }

  get busyWorkflowTasks(): number {
    return [...this.#held.values()].filter(({ activity }) => activity === undefined).length;
  }

  /** Returns the activity attempts of workers. */
  heldActivities(): HeldActivity[] {
    return [...this.#held.values()].flatMap(({ activity }) => activity ?? []);
  }

  /** Removes an attempt for which the server no longer waits. */
  forget({ workflowId, runId, activityId }: HeldActivity): void {
    this.#held.delete(activityKey(workflowId, runId, activityId));
  }

  async call(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    const waits = WAITING.has(method) || (method === "getWorkflowExecutionHistory" &&
      fromBinary(GetWorkflowExecutionHistoryRequestSchema, request).waitNewEvent);
    if (waits) return this.#taken(method, await this.#wait(method, request, options));
    if (ACTS.test(method)) this.#acts++;
    this.#busy++;
    try {
      return this.#taken(method, await this.#service.call(method, request, options));
    } finally {
      this.#busy--;
      this.#givenBack(method, request);
    }
  }

  async #wait(method: MethodName, request: Uint8Array, options?: CallOptions): Promise<Uint8Array> {
    if (method === "executeMultiOperation") this.#acts++;
    const expected = UPDATES.has(method)
      ? this.#expected.get(awaits(method, request)?.key ?? "")
      : undefined;
    if (expected === undefined) return await this.#service.call(method, request, options);
    expected.here++;
    try {
      return await this.#service.call(method, request, options);
    } finally {
      expected.here--;
    }
  }

  /** Records the tasks in a response. */
  #taken(method: MethodName, response: Uint8Array): Uint8Array {
    switch (method) {
      case "pollWorkflowTaskQueue":
        this.#workflowTask(fromBinary(PollWorkflowTaskQueueResponseSchema, response));
        break;
      case "pollActivityTaskQueue":
        this.#activityTask(fromBinary(PollActivityTaskQueueResponseSchema, response));
        break;
      case "startWorkflowExecution":
        this.#workflowTask(
          fromBinary(StartWorkflowExecutionResponseSchema, response).eagerWorkflowTask,
        );
        break;
      case "respondWorkflowTaskCompleted": {
        const { workflowTask, activityTasks } = fromBinary(
          RespondWorkflowTaskCompletedResponseSchema,
          response,
        );
        this.#workflowTask(workflowTask);
        for (const task of activityTasks) this.#activityTask(task);
      }
    }
    return response;
  }

  #workflowTask(task: PollWorkflowTaskQueueResponse | undefined): void {
    if (task === undefined || task.taskToken.length === 0) return;
    const token = formatToken(task.taskToken);
    // A query can be processed during the run's workflow task.
    const key = task.query === undefined
      ? `run ${task.workflowExecution?.runId}`
      : `query ${token}`;
    const { workflowId = "", runId = "" } = task.workflowExecution ?? {};
    this.#held.set(key, { token, workflowTask: { workflowId, runId, attempt: task.attempt } });
  }

  #activityTask(task: PollActivityTaskQueueResponse): void {
    if (task.taskToken.length === 0) return;
    const { workflowId = "", runId = "" } = task.workflowExecution ?? {};
    const { activityId, attempt } = task;
    this.#held.set(activityKey(workflowId, runId, activityId), {
      token: formatToken(task.taskToken),
      activity: { workflowId, runId, activityId, attempt },
    });
  }

  #noteOutcome(method: MethodName, request: Uint8Array, task: HeldWorkflowTask): void {
    if (method === "respondWorkflowTaskCompleted") this.failing.delete(task.runId);
    if (method !== "respondWorkflowTaskFailed") return;
    const { failure } = fromBinary(RespondWorkflowTaskFailedRequestSchema, request);
    const failed = { ...task, message: failure?.message ?? "" };
    this.failing.set(task.runId, failed);
    this.onWorkflowTaskFailed(failed);
  }

  /** Removes a completed task, whatever the server's response. */
  #givenBack(method: MethodName, request: Uint8Array): void {
    if (method in BY_TOKEN) {
      const token = formatToken(
        fromBinary(BY_TOKEN[method as keyof typeof BY_TOKEN], request).taskToken,
      );
      for (const [key, held] of this.#held) {
        if (held.token !== token) continue;
        this.#held.delete(key);
        if (held.workflowTask !== undefined) this.#noteOutcome(method, request, held.workflowTask);
      }
    } else if (method in BY_ID) {
      const { workflowId, runId, activityId } = fromBinary(
        BY_ID[method as keyof typeof BY_ID],
        request,
      );
      for (const { activity } of this.#held.values()) {
        if (
          activity?.workflowId === workflowId && activity.activityId === activityId &&
          [activity.runId, ""].includes(runId)
        ) {
          this.forget(activity);
        }
      }
    }
  }
}

const activityKey = (workflowId: string, runId: string, activityId: string) =>
  `activity ${activityId} ${runId} ${workflowId}`;
