// Cron schedules of workflows on Temporal's development server and on the embedded engine: the same
// scripted sessions, and the histories of all runs event by event. The test itself is the worker.
// takes: 30 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { type RawService, ServiceError } from "../../../ts/service/raw.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { differences } from "./support/same_history.ts";

const namespace = "default";
type Service = ReturnType<typeof typedService>;
type Commands = NonNullable<
  Parameters<Service["respondWorkflowTaskCompleted"]>[0]["commands"]
>;
type Start = Omit<
  Parameters<Service["startWorkflowExecution"]>[0],
  "$typeName" | "$unknown"
>;

/** One workflow id on one service, in short forms. */
class Session {
  readonly #service: Service;
  readonly #client: Client;
  readonly id: string;

  constructor(raw: RawService, id: string) {
    this.#service = typedService(raw);
    this.#client = new Client({
      service: raw,
      taskQueue: id,
      logger: silentLogger,
    });
    this.id = id;
  }

  #request(cronSchedule: string) {
    return {
      ...{
        namespace,
        workflowId: this.id,
        workflowType: { name: "W" },
        requestId: this.id,
      },
      ...{ taskQueue: { name: this.id }, identity: "client", cronSchedule },
      // Longer than a slow machine needs between a poll and its response.
      workflowTaskTimeout: seconds(60),
    };
  }

  async start(cronSchedule: string, more: Partial<Start> = {}): Promise<void> {
    await this.#service.startWorkflowExecution({
      ...this.#request(cronSchedule),
      ...more,
    });
  }

  async signalWithStart(cronSchedule: string): Promise<void> {
    await this.#service.signalWithStartWorkflowExecution({
      ...this.#request(cronSchedule),
      signalName: "s",
    });
  }

  /** Takes the next workflow task and completes it. */
  async work(commands: Commands = [], queue = this.id): Promise<void> {
    const taskQueue = { name: queue };
    for (;;) {
      const { taskToken } = await this.#service.pollWorkflowTaskQueue({
        ...{ namespace, taskQueue, identity: "worker" },
      }, { timeoutMs: 60_000 });
      if (taskToken.length === 0) continue;
      await this.#service.respondWorkflowTaskCompleted({
        ...{ namespace, taskToken, commands, identity: "worker" },
      });
      return;
    }
  }

  async signal(): Promise<void> {
    await this.#client.getHandle(undefined, this.id).signal("s");
  }

  async cancel(): Promise<void> {
    await this.#client.getHandle(undefined, this.id).cancel();
  }

  /** Waits until the latest run is closed. */
  async ended(): Promise<void> {
    const handle = this.#client.getHandle(undefined, this.id);
    await until(
      "the end",
      async () => (await handle.describe()).status !== "RUNNING",
    );
  }

  async terminate(id = this.id): Promise<void> {
    await this.#client.getHandle(undefined, id).terminate("the end");
  }

  async reset(event: number, runId: string): Promise<void> {
    await this.#service.resetWorkflowExecution({
      ...{
        namespace,
        workflowExecution: { workflowId: this.id, runId },
        reason: "again",
      },
      ...{
        workflowTaskFinishEventId: BigInt(event),
        requestId: `${this.id}-reset`,
      },
    });
  }

  async runs(id = this.id): Promise<string[]> {
    const found: { at: number; runId: string }[] = [];
    for await (
      const { runId, startTime } of this.#client.list(`WorkflowId = "${id}"`)
    ) {
      found.push({ at: Number(startTime), runId });
    }
    return found.sort((a, b) => a.at - b.at).map(({ runId }) => runId);
  }

  /** Waits until lists of the server show so many runs. */
  async hasRuns(count: number, id = this.id): Promise<string[]> {
    await until(
      `${count} runs of ${id}`,
      async () => (await this.runs(id)).length >= count,
    );
    return await this.runs(id);
  }

  async histories(count: number, id = this.id): Promise<unknown[]> {
    const runs = await this.hasRuns(count, id);
    return await Promise.all(
      runs.slice(0, count).map(async (runId) =>
        JSON.parse(
          await this.#client.getHandle(undefined, id, runId).historyJson(),
          // The engine has no ids of namespaces, and a run does not name the reset points before it.
          (key, value) =>
            /^(namespaceId|parentWorkflowNamespaceId|prevAutoResetPoints)$/
                .test(key)
              ? undefined
              : value,
        )
      ),
    );
  }
}

const seconds = (n: number) => ({ seconds: BigInt(n) });
const encoder = new TextEncoder();
const payloads = (text: string) => ({
  payloads: [{
    metadata: { encoding: encoder.encode("json/plain") },
    data: encoder.encode(JSON.stringify(text)),
  }],
});
const done = (text: string) => ({
  commandType: CommandType.COMPLETE_WORKFLOW_EXECUTION,
  attributes: {
    case: "completeWorkflowExecutionCommandAttributes",
    value: { result: payloads(text) },
  },
} as const);
const failed = {
  commandType: CommandType.FAIL_WORKFLOW_EXECUTION,
  attributes: {
    case: "failWorkflowExecutionCommandAttributes",
    value: { failure: { message: "no paper" } },
  },
} as const;
const canceled = {
  commandType: CommandType.CANCEL_WORKFLOW_EXECUTION,
  attributes: { case: "cancelWorkflowExecutionCommandAttributes", value: {} },
} as const;
const continued = (cronSchedule: string) => ({
  commandType: CommandType.CONTINUE_AS_NEW_WORKFLOW_EXECUTION,
  attributes: {
    case: "continueAsNewWorkflowExecutionCommandAttributes",
    value: { cronSchedule },
  },
} as const);
const child = (workflowId: string, cronSchedule: string) => ({
  commandType: CommandType.START_CHILD_WORKFLOW_EXECUTION,
  attributes: {
    case: "startChildWorkflowExecutionCommandAttributes",
    value: {
      ...{
        workflowId,
        workflowType: { name: "C" },
        taskQueue: { name: workflowId },
      },
      cronSchedule,
    },
  },
} as const);

/** A server delays a run that continues one that has lasted less than a second. */
// deno-lint-ignore no-explicit-any
function withoutDelayOfContinuing(history: any): unknown {
  const started = history.events[0].workflowExecutionStartedEventAttributes;
  if (started.initiator === "CONTINUE_AS_NEW_INITIATOR_WORKFLOW") {
    delete started.firstWorkflowTaskBackoff;
  }
  return history;
}

/** Each returns the histories of its runs. */
const sessions: {
  readonly [name: string]: (s: Session) => Promise<unknown[]>;
} = {
  async "completed and failed runs"(s) {
    await s.start("@every 1s", { input: payloads("in"), memo: { fields: {} } });
    await s.work([done("a")]);
    await s.work([failed]);
    await s.work([done("b")]);
    await s.hasRuns(4);
    await s.terminate();
    return (await s.histories(4)).slice(0, 3);
  },
  async "retries before the schedule"(s) {
    await s.start("@every 1s", {
      retryPolicy: { maximumAttempts: 2, initialInterval: seconds(1) },
      lastCompletionResult: payloads("before"),
    });
    await s.work([failed]);
    await s.work([failed]);
    await s.work([done("a")]);
    await s.hasRuns(4);
    await s.terminate();
    return (await s.histories(4)).slice(0, 3);
  },
  async "run timeout"(s) {
    await s.start("@every 4s", { workflowRunTimeout: seconds(1) });
    await s.hasRuns(2);
    await s.terminate();
    return (await s.histories(2)).slice(0, 1);
  },
  async "execution timeout"(s) {
    await s.start("@every 5s", { workflowExecutionTimeout: seconds(8) });
    await s.work([done("a")]);
    await s.hasRuns(2);
    await s.ended();
    return await s.histories(2);
  },
  async "signal during the delay"(s) {
    await s.signalWithStart("@every 2s");
    await s.signal();
    await s.work([done("a")]);
    await s.hasRuns(2);
    await s.terminate();
    return (await s.histories(2)).slice(0, 1);
  },
  async "cancel during the delay"(s) {
    await s.start("@every 1h");
    await s.cancel();
    await s.work([canceled]);
    return await s.histories(1);
  },
  async "continue-as-new"(s) {
    await s.start("@every 1s");
    await s.work([continued("@every 1s")]);
    await s.work([done("a")]);
    await s.work([continued("")]);
    await s.work([done("b")]);
    return (await s.histories(4)).map(withoutDelayOfContinuing);
  },
  async "child"(s) {
    await s.start("");
    await s.work([child(`${s.id}-c`, "@every 1s")]);
    await s.work();
    await s.work([done("a")], `${s.id}-c`);
    await s.hasRuns(2, `${s.id}-c`);
    await s.terminate(`${s.id}-c`);
    await s.work([done("p")]);
    return [...await s.histories(1), (await s.histories(2, `${s.id}-c`))[0]];
  },
  async "reset"(s) {
    await s.start("@every 2s");
    await s.work([done("a")]);
    const [first] = await s.hasRuns(2);
    await s.reset(4, first!);
    await s.work([done("b")]);
    await s.hasRuns(4);
    await s.terminate();
    const histories = await s.histories(4);
    return [histories[0], histories[2]];
  },
};

let server: DevServer, service: GrpcService, engine: EmbeddedEngine;
/** All sessions run at the same time, because they wait for times of their schedules. */
const running = new Map<string, Promise<unknown[][]>>();

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
  engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  for (const [name, session] of Object.entries(sessions)) {
    const id = `cron-${name.replaceAll(" ", "-")}`;
    const both = Promise.all(
      [service, engine].map((on) => session(new Session(on, id))),
    );
    // Reported by the test of the session.
    both.catch(() => {});
    running.set(name, both);
  }
});
after(async () => {
  service?.close();
  await engine?.close();
  await server?.stop();
});

for (const name of Object.keys(sessions)) {
  test(
    `a cron schedule is the same on the engine and on a server: ${name}`,
    { skip: noServer },
    async () => {
      const [theirs, ours] = await running.get(name)!;
      const found = theirs!.flatMap((one, i) => differences(one, ours![i]));
      assert.deepEqual(found, []);
    },
  );
}

test(
  "invalid cron schedules have the same code",
  { skip: noServer },
  async () => {
    const bad = [
      "soon",
      "60 * * * *",
      "* * * *",
      "0 0 30 2 *",
      "@often",
      "CRON_TZ=Mars/Base 0 0 * * *",
    ];
    for (const cronSchedule of bad) {
      const [theirs, ours] = await Promise.all(
        [service, engine].map(async (on) => {
          try {
            await new Session(on, "bad").start(cronSchedule);
          } catch (error) {
            assert.ok(error instanceof ServiceError);
            return error.code;
          }
        }),
      );
      assert.equal(ours, theirs, cronSchedule);
      assert.notEqual(ours, undefined);
    }
  },
);
