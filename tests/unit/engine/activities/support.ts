// An engine whose standalone activities a test calls in JSON, and a worker that the test plays.
import {
  create,
  type DescMethod,
  fromBinary,
  fromJson,
  type JsonValue,
  toBinary,
  toJson,
} from "@bufbuild/protobuf";
import { WorkflowService } from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { EmbeddedEngine, VirtualClock } from "../../../../ts/engine/mod.ts";
import type { EmbeddedEngineOptions } from "../../../../ts/engine/options.ts";
import type { Store } from "../../../../ts/engine/store.ts";
import type { CallOptions, MethodName, ServiceError } from "../../../../ts/service/raw.ts";

export const START_MS = Date.parse("2026-01-01T00:00:00Z");
export type Json = { readonly [field: string]: JsonValue };
// deno-lint-ignore no-explicit-any
export type Answer = any;

/** A payload of JSON, as base64. */
export function payloads(...values: JsonValue[]): Json {
  return {
    payloads: values.map((value) => ({
      metadata: { encoding: btoa("json/plain") },
      data: btoa(JSON.stringify(value)),
    })),
  };
}

/** The values of payloads. */
export function valuesIn(message: { payloads?: { data: string }[] } | undefined): JsonValue[] {
  return (message?.payloads ?? []).map(({ data }) => JSON.parse(atob(data)) as JsonValue);
}

export class ActivityEngine {
  readonly engine: EmbeddedEngine;
  readonly clock: VirtualClock;
  readonly reported: string[];

  private constructor(engine: EmbeddedEngine, clock: VirtualClock, reported: string[]) {
    this.engine = engine;
    this.clock = clock;
    this.reported = reported;
  }

  /** Opens an engine over the store for the time of `body`. */
  static async during<T>(
    store: Store,
    body: (opened: ActivityEngine) => Promise<T>,
    { nowMs = START_MS, ...options }: EmbeddedEngineOptions & { nowMs?: number } = {},
  ): Promise<T> {
    const clock = new VirtualClock(nowMs);
    const reported: string[] = [];
    const onError = (error: Error) => void reported.push(error.message);
    const engine = await EmbeddedEngine.open({ store, clock, onError, ...options });
    try {
      return await body(new ActivityEngine(engine, clock, reported));
    } finally {
      await engine.close();
    }
  }

  /** Calls a method with JSON and returns JSON, with default values left out. */
  async call(method: MethodName, request: Json, options?: CallOptions): Promise<Answer> {
    const { input, output } = WorkflowService.method[method] as DescMethod;
    const bytes = toBinary(input, fromJson(input, request as JsonValue) ?? create(input));
    return toJson(output, fromBinary(output, await this.engine.call(method, bytes, options)));
  }

  start(request: Json = {}): Promise<Answer> {
    return this.call("startActivityExecution", {
      activityId: "a",
      activityType: { name: "Work" },
      taskQueue: { name: "q" },
      startToCloseTimeout: "10s",
      ...request,
    });
  }

  poll(queue: string = "q", options?: CallOptions): Promise<Answer> {
    const request = { taskQueue: { name: queue }, identity: "worker" };
    return this.call("pollActivityTaskQueue", request, options);
  }

  complete(taskToken: string, ...values: JsonValue[]): Promise<Answer> {
    return this.call("respondActivityTaskCompleted", { taskToken, result: payloads(...values) });
  }

  fail(taskToken: string, info: Json = {}): Promise<Answer> {
    const failure = { message: "no", applicationFailureInfo: { type: "No", ...info } };
    return this.call("respondActivityTaskFailed", { taskToken, failure });
  }

  async describe(request: Json = {}): Promise<Answer> {
    const { info } = await this.call("describeActivityExecution", { activityId: "a", ...request });
    return info;
  }

  async outcome(activityId: string = "a"): Promise<Answer> {
    return (await this.call("pollActivityExecution", { activityId })).outcome;
  }

  advance(ms: number): void {
    this.clock.advanceTo(this.clock.nowMs() + ms);
  }
}

/** The service error of a call that must be rejected. */
export async function rejection(call: Promise<unknown>): Promise<ServiceError> {
  try {
    await call;
  } catch (error) {
    return error as ServiceError;
  }
  throw new Error("the call was not rejected");
}
