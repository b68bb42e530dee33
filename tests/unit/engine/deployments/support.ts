// An engine with versioned workers, whose methods a test calls in JSON, and whose tasks it polls and
// completes by hand.
import { create, fromBinary, fromJson, type JsonValue, toBinary, toJson } from "@bufbuild/protobuf";
import * as api from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { GenMessage } from "@bufbuild/protobuf/codegenv2";
import type { Message } from "@bufbuild/protobuf";
import { CommandType } from "../../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { VersioningBehavior } from "../../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { TaskQueueSchema } from "../../../../ts/messages/generated/temporal/api/taskqueue/v1/message_pb.ts";
import { WorkerDeploymentOptionsSchema } from "../../../../ts/messages/generated/temporal/api/deployment/v1/message_pb.ts";
import { WorkerVersioningMode } from "../../../../ts/messages/generated/temporal/api/enums/v1/deployment_pb.ts";
import { EmbeddedEngine, VirtualClock } from "../../../../ts/engine/mod.ts";
import type { Store } from "../../../../ts/engine/store.ts";
import type { MethodName } from "../../../../ts/service/raw.ts";
import type { Command } from "../../../../ts/messages/generated/temporal/api/command/v1/message_pb.ts";

export const START_MS = Date.parse("2026-01-01T00:00:00Z");
// deno-lint-ignore no-explicit-any
export type Json = any;

/** "build-id" of deployment "shop", or "deployment:build-id"; undefined: an unversioned worker. */
type Build = string | undefined;

const nameOf = (build: string): readonly [deployment: string, buildId: string] => {
  const [deployment, buildId] = build.split(":");
  return buildId === undefined ? ["shop", build] : [deployment!, buildId];
};

const optionsOf = (build: Build) => {
  if (build === undefined) return {};
  const [deploymentName, buildId] = nameOf(build);
  const workerVersioningMode = WorkerVersioningMode.VERSIONED;
  const options = { deploymentName, buildId, workerVersioningMode };
  return { deploymentOptions: create(WorkerDeploymentOptionsSchema, options) };
};

export type Behavior = keyof typeof VersioningBehavior;

/** A task that a poll has received. */
export interface PolledTask {
  readonly token: Uint8Array;
  readonly workflowId: string;
}

export class VersionedEngine {
  readonly engine: EmbeddedEngine;
  readonly clock: VirtualClock;

  private constructor(engine: EmbeddedEngine, clock: VirtualClock) {
    this.engine = engine;
    this.clock = clock;
  }

  /** Opens an engine over the store for the time of `body`. `mayFail`: commits may fail. */
  static async during<T>(
    store: Store,
    body: (opened: VersionedEngine) => Promise<T>,
    { mayFail = false } = {},
  ): Promise<T> {
    const clock = new VirtualClock(START_MS);
    const onError = (error: Error) => {
      if (!mayFail) throw error;
    };
    const engine = await EmbeddedEngine.open({ store, clock, remoteWorkers: true, onError });
    try {
      return await body(new VersionedEngine(engine, clock));
    } finally {
      await engine.close();
      store.close();
    }
  }

  /** Calls a method, "SetWorkerDeploymentCurrentVersion" for example, in JSON. */
  async call(method: string, request: Json): Promise<Json> {
    const schemas = api as unknown as { readonly [name: string]: GenMessage<Message> };
    const input = schemas[`${method}RequestSchema`]!;
    const bytes = toBinary(input, fromJson(input, request as JsonValue));
    const name = (method[0]!.toLowerCase() + method.slice(1)) as MethodName;
    const output = schemas[`${method}ResponseSchema`]!;
    return toJson(output, fromBinary(output, await this.engine.call(name, bytes)));
  }

  /** Moves the engine's time. */
  async advance(ms: number): Promise<void> {
    this.clock.advanceTo(this.clock.nowMs() + ms);
    await this.flushed();
  }

  setCurrent(build: Build, more: Json = {}): Promise<Json> {
    const [deploymentName, buildId] = build === undefined ? ["shop", ""] : nameOf(build);
    return this.call("SetWorkerDeploymentCurrentVersion", { deploymentName, buildId, ...more });
  }

  setRamping(build: Build, percentage: number, more: Json = {}): Promise<Json> {
    const [deploymentName, buildId] = build === undefined ? ["shop", ""] : nameOf(build);
    const request = { deploymentName, buildId, percentage, ...more };
    return this.call("SetWorkerDeploymentRampingVersion", request);
  }

  async describe(workflowId: string): Promise<Json> {
    return await this.call("DescribeWorkflowExecution", { execution: { workflowId } });
  }

  /** The status of a version, without its prefix. */
  async status(build: string): Promise<string> {
    const [deploymentName, buildId] = nameOf(build);
    const request = { deploymentVersion: { deploymentName, buildId } };
    const { workerDeploymentVersionInfo: { status } } = await this.call(
      "DescribeWorkerDeploymentVersion",
      request,
    );
    return status.replace("WORKER_DEPLOYMENT_VERSION_STATUS_", "");
  }

  async start(workflowId: string, more: Json = {}): Promise<void> {
    await this.call("StartWorkflowExecution", {
      workflowId,
      workflowType: { name: "W" },
      taskQueue: { name: "q" },
      requestId: workflowId,
      ...more,
    });
  }

  async signal(workflowId: string): Promise<void> {
    const workflowExecution = { workflowId };
    await this.call("SignalWorkflowExecution", { workflowExecution, signalName: "s" });
  }

  /** Polls until a task comes or the engine has nothing for this worker; undefined: nothing. */
  async poll(
    build: Build,
    { queue = "q", activity = false, sticky = false } = {},
  ): Promise<PolledTask | undefined> {
    const aborted = new AbortController();
    const taskQueue = create(TaskQueueSchema, { name: queue, kind: sticky ? 2 : 1 });
    const schema = activity
      ? api.PollActivityTaskQueueRequestSchema
      : api.PollWorkflowTaskQueueRequestSchema;
    const request = create(schema, { taskQueue, identity: build ?? "unversioned" });
    Object.assign(request, optionsOf(build));
    const polled = this.engine.call(
      activity ? "pollActivityTaskQueue" : "pollWorkflowTaskQueue",
      toBinary(schema, request),
      { signal: aborted.signal },
    );
    const ended = polled.then((bytes) => bytes, (error) => {
      if (aborted.signal.aborted) return undefined;
      throw error;
    });
    // Calls enter in order: when this one has its response, the poll has had its chance.
    await Promise.race([ended, this.call("GetSystemInfo", {})]);
    await this.flushed();
    const nothing = new Promise<undefined>((resolve) => setImmediate(() => resolve(undefined)));
    const bytes = await Promise.race([ended, nothing]);
    aborted.abort();
    if (bytes === undefined || bytes.length === 0) return undefined;
    const task = fromBinary(
      activity ? api.PollActivityTaskQueueResponseSchema : api.PollWorkflowTaskQueueResponseSchema,
      bytes,
    );
    return { token: task.taskToken, workflowId: task.workflowExecution!.workflowId };
  }

  /** Waits until all calls so far are committed. */
  async flushed(): Promise<void> {
    await this.call("ListWorkerDeployments", {});
  }

  /** Polls for a workflow task that must be there, and completes it. */
  async complete(
    build: Build,
    behavior: Behavior = "UNSPECIFIED",
    options: {
      readonly queue?: string;
      readonly commands?: Partial<Command>[];
      readonly stickyQueue?: string;
      readonly sticky?: boolean;
    } = {},
  ): Promise<string> {
    const { queue, sticky, stickyQueue, commands = [] } = options;
    const task = await this.poll(build, {
      ...(queue !== undefined && { queue }),
      sticky: sticky ?? false,
    });
    if (task === undefined) throw new Error(`no workflow task for ${build}`);
    await this.completeTask(task, build, behavior, commands, stickyQueue);
    return task.workflowId;
  }

  async completeTask(
    { token }: PolledTask,
    build: Build,
    behavior: Behavior = "UNSPECIFIED",
    commands: Partial<Command>[] = [],
    stickyQueue?: string,
  ): Promise<void> {
    const request = create(api.RespondWorkflowTaskCompletedRequestSchema, {
      taskToken: token,
      identity: build ?? "unversioned",
      versioningBehavior: VersioningBehavior[behavior],
      commands: commands as Command[],
      ...optionsOf(build),
      ...(stickyQueue !== undefined && {
        stickyAttributes: {
          workerTaskQueue: { name: stickyQueue, kind: 2 },
          scheduleToStartTimeout: { seconds: 10n },
        },
      }),
    });
    await this.engine.call(
      "respondWorkflowTaskCompleted",
      toBinary(api.RespondWorkflowTaskCompletedRequestSchema, request),
    );
  }

  async events(workflowId: string): Promise<Json[]> {
    const { history } = await this.call("GetWorkflowExecutionHistory", {
      execution: { workflowId },
    });
    return history.events;
  }
}

/** A command that schedules an activity. */
export function activityCommand(activityId: string, queue = "q"): Partial<Command> {
  return {
    commandType: CommandType.SCHEDULE_ACTIVITY_TASK,
    attributes: {
      case: "scheduleActivityTaskCommandAttributes",
      value: {
        activityId,
        activityType: { name: "A" },
        taskQueue: { name: queue },
        startToCloseTimeout: { seconds: 60n },
      },
    },
  } as unknown as Partial<Command>;
}

/** The encoded version of a description. */
export const version = (build: string) => {
  const [deploymentName, buildId] = nameOf(build);
  return { deploymentName, buildId };
};
