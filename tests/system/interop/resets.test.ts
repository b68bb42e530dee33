// Resets on Temporal's development server and on the embedded engine: the same scripted sessions,
// and the histories of all runs event by event. The test itself is the worker, so that both see the
// same order.
// takes: 30 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { ResetReapplyExcludeType as Exclude } from "../../../ts/messages/generated/temporal/api/enums/v1/reset_pb.ts";
import { type RawService, ServiceError } from "../../../ts/service/raw.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { differences } from "./support/same_history.ts";

const namespace = "default";
type Commands = Parameters<
  ReturnType<typeof typedService>["respondWorkflowTaskCompleted"]
>[0]["commands"];

/** One workflow id on one service, in short forms. */
class Session {
  readonly runs: string[] = [];
  readonly notes: unknown[] = [];
  readonly #service: ReturnType<typeof typedService>;
  readonly #client: Client;
  readonly #id: string;

  constructor(raw: RawService, id: string) {
    this.#service = typedService(raw);
    this.#client = new Client({ service: raw, taskQueue: id, logger: silentLogger });
    this.#id = id;
  }

  get #execution() {
    return { workflowId: this.#id, runId: "" };
  }

  async start(): Promise<void> {
    const { runId } = await this.#service.startWorkflowExecution({
      ...{ namespace, workflowId: this.#id, workflowType: { name: "W" }, requestId: this.#id },
      taskQueue: { name: this.#id },
      identity: "client",
      // Longer than a slow machine needs between a poll and its response.
      workflowTaskTimeout: { seconds: 60n },
    });
    this.runs.push(runId);
  }

  async task(queue = this.#id) {
    const taskQueue = { name: queue };
    for (;;) {
      const task = await this.#service.pollWorkflowTaskQueue({
        ...{ namespace, taskQueue, identity: "worker" },
      }, { timeoutMs: 60_000 });
      if (task.taskToken.length > 0) return task;
    }
  }

  /** Takes the next workflow task and completes it. */
  async work(commands: NonNullable<Commands> = [], queue = this.#id): Promise<void> {
    const { taskToken } = await this.task(queue);
    await this.#service.respondWorkflowTaskCompleted({
      ...{ namespace, taskToken, commands, identity: "worker" },
    });
  }

  async activity(): Promise<void> {
    const taskQueue = { name: this.#id };
    const { taskToken } = await this.#service.pollActivityTaskQueue(
      { namespace, taskQueue, identity: "worker" },
      { timeoutMs: 60_000 },
    );
    await this.#service.respondActivityTaskCompleted({
      ...{ namespace, taskToken, identity: "worker" },
    });
  }

  signal(signalName: string) {
    const workflowExecution = this.#execution;
    return this.#service.signalWorkflowExecution({
      ...{ namespace, workflowExecution, signalName, identity: "client" },
    });
  }

  async reset(event: number, exclude: readonly Exclude[] = [], requestId = `${event}`) {
    const { runId } = await this.#service.resetWorkflowExecution({
      ...{ namespace, workflowExecution: this.#execution, reason: "again", identity: "client" },
      workflowTaskFinishEventId: BigInt(event),
      resetReapplyExcludeTypes: [...exclude],
      requestId: `${this.#id}-${requestId}`,
    });
    if (!this.runs.includes(runId)) this.runs.push(runId);
  }

  /** The status code of a rejected reset. Texts of a server name its internals. */
  async refused(event: number): Promise<void> {
    await assert.rejects(this.reset(event), (error) => {
      assert.ok(error instanceof ServiceError);
      this.notes.push([event, error.code]);
      return true;
    });
  }

  /** What the latest run waits for. */
  async note(): Promise<void> {
    const { pendingActivities, pendingChildren, workflowExtendedInfo } = await this.#service
      .describeWorkflowExecution({ namespace, execution: this.#execution });
    this.notes.push([
      pendingActivities.map(({ activityId, attempt, state }) => [activityId, attempt, state]),
      pendingChildren.map(({ workflowTypeName, initiatedId }) => [workflowTypeName, initiatedId]),
      workflowExtendedInfo?.cancelRequested,
    ]);
  }

  async events(shape: RegExp): Promise<void> {
    const handle = this.#client.getHandle(undefined, this.#id, this.runs.at(-1)!);
    await until(String(shape), async () => shape.test(await handle.historyJson()));
  }

  async histories(): Promise<unknown[]> {
    return await Promise.all(
      this.runs.map(async (runId) =>
        JSON.parse(
          await this.#client.getHandle(undefined, this.#id, runId).historyJson(),
          // The engine has no ids of namespaces.
          (key, value) => key === "namespaceId" ? undefined : value,
        )
      ),
    );
  }
}

const seconds = (n: number) => ({ seconds: BigInt(n) });
const timer = (timerId: string, length: number) => ({
  commandType: CommandType.START_TIMER,
  attributes: {
    case: "startTimerCommandAttributes",
    value: { timerId, startToFireTimeout: seconds(length) },
  },
} as const);
const activity = (activityId: string, queue: string) => ({
  commandType: CommandType.SCHEDULE_ACTIVITY_TASK,
  attributes: {
    case: "scheduleActivityTaskCommandAttributes",
    value: {
      ...{ activityId, activityType: { name: "act" }, taskQueue: { name: queue } },
      startToCloseTimeout: seconds(60),
    },
  },
} as const);
const child = (workflowId: string) => ({
  commandType: CommandType.START_CHILD_WORKFLOW_EXECUTION,
  attributes: {
    case: "startChildWorkflowExecutionCommandAttributes",
    value: { workflowId, workflowType: { name: "Child" }, taskQueue: { name: workflowId } },
  },
} as const);
const done = {
  commandType: CommandType.COMPLETE_WORKFLOW_EXECUTION,
  attributes: { case: "completeWorkflowExecutionCommandAttributes", value: {} },
} as const;

const sessions: { readonly [name: string]: (s: Session, id: string) => Promise<void> } = {
  async "closed run"(s, id) {
    await s.start();
    await s.work([activity("a", id)]);
    await s.activity();
    await s.work([done]);
    for (const event of [1, 2, 5, 6, 8, 50]) await s.refused(event);
    await s.reset(10);
    await s.reset(10);
    await s.note();
    await s.work([done]);
  },
  async "open run with signals"(s) {
    await s.start();
    await s.work();
    await s.signal("a");
    await s.task();
    await s.signal("b");
    await s.reset(4);
    await s.work([done]);
  },
  async "without signals"(s) {
    await s.start();
    await s.work();
    await s.signal("a");
    await s.reset(4, [Exclude.SIGNAL]);
    await s.work([done]);
  },
  async "a task that no worker had"(s) {
    await s.start();
    await s.work();
    await s.reset(3);
    await s.work([done]);
  },
  async "pending timer and activity"(s, id) {
    await s.start();
    // Long enough that it cannot fire before the reset, and awaited before the activity: its place
    // among the events does not depend on the speed of the machine.
    await s.work([timer("t", 10), activity("a", id)]);
    await s.signal("a");
    await s.work([done]);
    await s.reset(10);
    await s.note();
    await s.events(/TIMER_FIRED/);
    await s.activity();
    await s.events(/ACTIVITY_TASK_COMPLETED/);
  },
  async "child"(s, id) {
    await s.start();
    await s.work([child(`${id}-c`)]);
    await s.work();
    await s.reset(9);
    await s.note();
    await s.work([done], `${id}-c`);
    await s.events(/CHILD_WORKFLOW_EXECUTION_COMPLETED/);
  },
};

let server: DevServer, service: GrpcService, engine: EmbeddedEngine;

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  engine = await EmbeddedEngine.open({ store: new MemoryStore() });
});
after(async () => {
  service?.close();
  await engine?.close();
  await server?.stop();
});

for (const [name, session] of Object.entries(sessions)) {
  test(
    `a reset is the same on the engine and on a server: ${name}`,
    { skip: noServer },
    async () => {
      const id = `reset-${name.replaceAll(" ", "-")}`;
      const [theirs, ours] = await Promise.all([service, engine].map(async (on) => {
        const s = new Session(on, id);
        await session(s, id);
        return { histories: await s.histories(), notes: s.notes };
      }));
      assert.deepEqual(ours!.notes, theirs!.notes);
      const found = theirs!.histories.flatMap((one, i) => differences(one, ours!.histories[i]));
      assert.deepEqual(found, []);
    },
  );
}
