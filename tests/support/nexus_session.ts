// Namespaces in memory with raw calls, for Nexus: a caller's workflow by its commands, and handlers
// by their polls. Time is virtual.
import assert from "node:assert/strict";
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  toBinary,
} from "@bufbuild/protobuf";
import { EventTypeSchema } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import type { HistoryEvent } from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { WorkflowService } from "../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import type { CommandSchema } from "../../ts/messages/generated/temporal/api/command/v1/message_pb.ts";
import type { StartOperationResponseSchema } from "../../ts/messages/generated/temporal/api/nexus/v1/message_pb.ts";
import { Namespaces, type NamespacesHost } from "../../ts/dev/namespaces.ts";
import type { NexusEndpoint } from "../../ts/dev/nexus/endpoints.ts";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import type { RawService } from "../../ts/service/raw.ts";
import type { Store } from "../../ts/engine/store.ts";
import { VirtualClock } from "../../ts/engine/clock.ts";

type Methods = typeof WorkflowService.method;
export type Command = MessageInitShape<typeof CommandSchema>;
type Started = MessageInitShape<typeof StartOperationResponseSchema>;

export const encoded = (value: unknown) => ({
  metadata: { encoding: new TextEncoder().encode("json/plain") },
  data: new TextEncoder().encode(JSON.stringify(value)),
});

export const schedule = (more: object = {}): Command => ({
  commandType: 17,
  attributes: {
    case: "scheduleNexusOperationCommandAttributes",
    value: {
      endpoint: "billing",
      service: "payments",
      operation: "charge",
      input: encoded({ cents: 5 }),
      ...more,
    },
  },
});

export const complete = (value: unknown): Command => ({
  commandType: 4,
  attributes: {
    case: "completeWorkflowExecutionCommandAttributes",
    value: { result: { payloads: [encoded(value)] } },
  },
});

/** Raw calls of a workflow that calls operations, and of their handler. */
export class RawNexusSession {
  readonly service: RawService;
  /** The namespace of the handler. */
  readonly target: string;

  constructor(service: RawService, target: string) {
    this.service = service;
    this.target = target;
  }

  async call<M extends keyof Methods>(
    method: M,
    request: MessageInitShape<Methods[M]["input"]>,
    namespace = "default",
  ) {
    const { input, output } = WorkflowService.method[method] as {
      input: DescMessage;
      output: DescMessage;
    };
    const bytes = toBinary(input, create(input, { namespace, ...request }));
    // deno-lint-ignore no-explicit-any
    return fromBinary(output, await this.service.call(method, bytes)) as any;
  }

  async start(workflowId = "caller", more: object = {}, namespace = "default"): Promise<string> {
    const { runId } = await this.call("startWorkflowExecution", {
      workflowId,
      workflowType: { name: "W" },
      taskQueue: { name: "callers" },
      requestId: crypto.randomUUID(),
      ...more,
    }, namespace);
    return runId;
  }

  /** Polls a workflow task and completes it with these commands. */
  async task(commands: readonly Command[] = [], namespace = "default", queue = "callers") {
    const task = await this.call(
      "pollWorkflowTaskQueue",
      { taskQueue: { name: queue } },
      namespace,
    );
    assert.notEqual(task.taskToken.length, 0, "no workflow task");
    await this.call(
      "respondWorkflowTaskCompleted",
      { taskToken: task.taskToken, commands: [...commands] },
      namespace,
    );
    return task;
  }

  /** Waits for the handler's next request. */
  async request(queue = "handlers") {
    const task = await this.call("pollNexusTaskQueue", { taskQueue: { name: queue } }, this.target);
    return {
      token: task.taskToken as Uint8Array,
      ...task.request.variant,
      header: task.request.header,
    };
  }

  respond(token: Uint8Array, started: Started) {
    return this.call("respondNexusTaskCompleted", {
      taskToken: token,
      response: { variant: { case: "startOperation", value: started } },
    }, this.target);
  }

  async events(workflowId = "caller", namespace = "default"): Promise<HistoryEvent[]> {
    const { history } = await this.call(
      "getWorkflowExecutionHistory",
      { execution: { workflowId } },
      namespace,
    );
    return history.events;
  }

  /** Waits until the last event of the history is about Nexus or the workflow's next task. */
  async until(name: string, workflowId = "caller", namespace = "default"): Promise<HistoryEvent> {
    for (let round = 0; round < 2000; round++) {
      const found = (await this.events(workflowId, namespace)).findLast((e) => nameOf(e) === name);
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    throw new Error(`no ${name}: ${(await this.events(workflowId, namespace)).map(nameOf)}`);
  }
}

export class NexusSession extends RawNexusSession {
  readonly namespaces: Namespaces;
  readonly clock: VirtualClock;

  private constructor(namespaces: Namespaces, clock: VirtualClock) {
    super(namespaces, "orders");
    this.namespaces = namespaces;
    this.clock = clock;
  }

  /** With the namespaces "default" and "orders", in these stores. */
  static async open(
    stores: { readonly [namespace: string]: Store } = {},
    endpoints: readonly NexusEndpoint[] = [],
    clock = new VirtualClock(),
  ): Promise<NexusSession> {
    const host: NamespacesHost = {
      open: (namespace, nexus) =>
        EmbeddedEngine.open({
          namespace,
          nexus,
          clock,
          remoteWorkers: true,
          store: stores[namespace] ?? new MemoryStore(),
        }),
      keepFor: () => () => {},
    };
    const initial = ["default", "orders"].map((name) => ({ name, options: {} }));
    return new NexusSession(await Namespaces.open(initial, host, endpoints), clock);
  }

  endpoint(namespace = "orders", taskQueue = "handlers", name = "billing"): NexusEndpoint {
    const description = new Uint8Array(0);
    return this.namespaces.endpoints.create({ name, description, namespace, taskQueue });
  }

  close(): Promise<void> {
    return this.namespaces.close();
  }
}

/** "NEXUS_OPERATION_SCHEDULED" */
export const nameOf = (event: HistoryEvent): string =>
  EventTypeSchema.value[event.eventType]!.name.replace("EVENT_TYPE_", "");
