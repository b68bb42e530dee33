// An engine whose batch operations a test calls in JSON, and workflows without a worker.
import { create, fromBinary, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import { EventType } from "../../../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { HistoryEvent } from "../../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  DescribeBatchOperationRequestSchema,
  type DescribeBatchOperationResponse,
  DescribeBatchOperationResponseSchema,
  GetWorkflowExecutionHistoryRequestSchema,
  GetWorkflowExecutionHistoryResponseSchema,
  ListBatchOperationsRequestSchema,
  type ListBatchOperationsResponse,
  ListBatchOperationsResponseSchema,
  PollWorkflowTaskQueueRequestSchema,
  PollWorkflowTaskQueueResponseSchema,
  RespondWorkflowTaskCompletedRequestSchema,
  StartBatchOperationRequestSchema,
  StopBatchOperationRequestSchema,
} from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Client, silentLogger } from "../../../../ts/client/mod.ts";
import { EmbeddedEngine, VirtualClock } from "../../../../ts/engine/mod.ts";
import type { Store } from "../../../../ts/engine/store.ts";
import { until } from "../../../support/until.ts";

export const START_MS = Date.parse("2026-01-01T00:00:00Z");
export type Json = { readonly [field: string]: JsonValue };

export class BatchEngine {
  readonly engine: EmbeddedEngine;
  readonly clock: VirtualClock;
  readonly client: Client;
  readonly reported: string[];

  /** `clock` is the clock of the engine, if its time is virtual. */
  constructor(
    engine: EmbeddedEngine,
    clock: VirtualClock = new VirtualClock(START_MS),
    reported: string[] = [],
  ) {
    this.engine = engine;
    this.clock = clock;
    this.reported = reported;
    this.client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
  }

  /** Opens an engine over the store for the time of `body`. */
  static async during<T>(
    store: Store,
    body: (opened: BatchEngine) => Promise<T>,
    nowMs: number = START_MS,
  ): Promise<T> {
    const clock = new VirtualClock(nowMs);
    const reported: string[] = [];
    const onError = (error: Error) => void reported.push(error.message);
    const engine = await EmbeddedEngine.open({ store, clock, onError });
    try {
      return await body(new BatchEngine(engine, clock, reported));
    } finally {
      await engine.close();
    }
  }

  async startWorkflows(ids: readonly string[], type: string = "W"): Promise<void> {
    await Promise.all(ids.map((id) => this.client.start(type, { id, args: [] })));
  }

  /** Completes the next workflow task, without commands. */
  async completeTask(): Promise<void> {
    const poll = create(PollWorkflowTaskQueueRequestSchema, { taskQueue: { name: "q" } });
    const { taskToken } = fromBinary(
      PollWorkflowTaskQueueResponseSchema,
      await this.engine.call(
        "pollWorkflowTaskQueue",
        toBinary(PollWorkflowTaskQueueRequestSchema, poll),
      ),
    );
    const done = create(RespondWorkflowTaskCompletedRequestSchema, { taskToken });
    await this.engine.call(
      "respondWorkflowTaskCompleted",
      toBinary(RespondWorkflowTaskCompletedRequestSchema, done),
    );
  }

  async startBatch(request: Json): Promise<void> {
    const json = { jobId: "job", reason: "why", ...request } as JsonValue;
    const message = fromJson(StartBatchOperationRequestSchema, json);
    await this.engine.call(
      "startBatchOperation",
      toBinary(StartBatchOperationRequestSchema, message),
    );
  }

  async stopBatch(jobId: string, reason: string = "enough"): Promise<void> {
    const message = create(StopBatchOperationRequestSchema, { jobId, reason });
    await this.engine.call(
      "stopBatchOperation",
      toBinary(StopBatchOperationRequestSchema, message),
    );
  }

  async describeBatch(jobId: string = "job"): Promise<DescribeBatchOperationResponse> {
    const message = create(DescribeBatchOperationRequestSchema, { jobId });
    return fromBinary(
      DescribeBatchOperationResponseSchema,
      await this.engine.call(
        "describeBatchOperation",
        toBinary(DescribeBatchOperationRequestSchema, message),
      ),
    );
  }

  async listBatches(
    pageSize: number = 0,
    nextPageToken: Uint8Array = new Uint8Array(0),
  ): Promise<ListBatchOperationsResponse> {
    const message = create(ListBatchOperationsRequestSchema, { pageSize, nextPageToken });
    return fromBinary(
      ListBatchOperationsResponseSchema,
      await this.engine.call(
        "listBatchOperations",
        toBinary(ListBatchOperationsRequestSchema, message),
      ),
    );
  }

  /** Total, complete and failed workflows. */
  async counts(jobId?: string): Promise<number[]> {
    const described = await this.describeBatch(jobId);
    return [
      described.totalOperationCount,
      described.completeOperationCount,
      described.failureOperationCount,
    ].map(Number);
  }

  /** Waits for the end of an operation. Returns its counts. */
  async ended(jobId?: string): Promise<number[]> {
    await until(
      "the end of the batch operation",
      async () => (await this.describeBatch(jobId)).closeTime !== undefined,
      { retryErrors: true },
    );
    return await this.counts(jobId);
  }

  async events(workflowId: string, runId: string = ""): Promise<HistoryEvent[]> {
    const message = create(GetWorkflowExecutionHistoryRequestSchema, {
      execution: { workflowId, runId },
    });
    const { history } = fromBinary(
      GetWorkflowExecutionHistoryResponseSchema,
      await this.engine.call(
        "getWorkflowExecutionHistory",
        toBinary(GetWorkflowExecutionHistoryRequestSchema, message),
      ),
    );
    return history?.events ?? [];
  }

  /** Number of signals in the history. */
  async signals(workflowId: string): Promise<number> {
    const events = await this.events(workflowId);
    return events.filter(({ eventType }) => eventType === EventType.WORKFLOW_EXECUTION_SIGNALED)
      .length;
  }
}
