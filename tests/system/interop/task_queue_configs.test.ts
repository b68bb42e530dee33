// Limits of task queues on `temporalex dev` and on Temporal's development server: raw sessions, and the
// official command line.
// runtime: node (compares servers and programs; other files cover the runtime)
// takes: 15 s
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { TaskQueueType } from "../../../ts/messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import type { UpdateTaskQueueConfigRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { until } from "../../support/until.ts";
import { BothServers } from "./support/both_servers.ts";
import { noServer, temporalCli } from "./support/dev_server.ts";
import { compareSessions, type RawSession } from "./support/raw_sessions.ts";

const skip = noServer;
let both: BothServers;

before(async () => {
  if (skip !== false) return;
  both = await BothServers.start();
});

after(async () => await both?.close());

type Update = MessageInitShape<typeof UpdateTaskQueueConfigRequestSchema>;
const { ACTIVITY, WORKFLOW } = TaskQueueType;
const rate = (requestsPerSecond: number) => ({
  rateLimit: { requestsPerSecond },
});

/** The rate without a limit is a setting of the server. */
const described = (json: Described) => {
  const { rateLimitSource, requestsPerSecond } = json.effectiveRateLimit;
  const isSystem = rateLimitSource === "RATE_LIMIT_SOURCE_SYSTEM";
  return [json.config, rateLimitSource, isSystem ? "" : requestsPerSecond];
};
interface Described {
  readonly config?: object;
  readonly effectiveRateLimit: {
    readonly rateLimitSource: string;
    readonly requestsPerSecond: number;
  };
}

const describe = (
  session: RawSession,
  name: string,
  taskQueueType: TaskQueueType = ACTIVITY,
) =>
  session.step(
    "describeTaskQueue",
    { taskQueue: { name }, taskQueueType, reportConfig: true },
    described,
  );

/** Both servers apply a change to a loaded queue soon. */
const source = (session: RawSession, name: string, wanted: number) =>
  until("the limit is in effect", async () => {
    const request = { taskQueue: { name }, taskQueueType: ACTIVITY };
    const { effectiveRateLimit } = await session.call(
      "describeTaskQueue",
      request,
    );
    return effectiveRateLimit.rateLimitSource === wanted;
  });

test(
  "a raw session sets, shows and removes the limits of a queue",
  { skip },
  () =>
    compareSessions(both.services, async (session) => {
      const taskQueue = "raw-limits";
      const update = (more: Update) =>
        session.step("updateTaskQueueConfig", {
          taskQueue,
          taskQueueType: ACTIVITY,
          identity: "operator",
          ...more,
        });
      await describe(session, taskQueue);
      await update({
        updateQueueRateLimit: { ...rate(2.5), reason: "slow API" },
      });
      await source(session, taskQueue, 1);
      await describe(session, taskQueue);
      await update({
        updateFairnessKeyRateLimitDefault: { ...rate(1), reason: "fair" },
      });
      await update({ updateQueueRateLimit: { reason: "no more" } });
      await source(session, taskQueue, 3);
      await describe(session, taskQueue);
      await update({ updateQueueRateLimit: rate(0) });
      await source(session, taskQueue, 1);
      await describe(session, taskQueue);
      await describe(session, taskQueue, WORKFLOW);
      await update({ taskQueueType: WORKFLOW, updateQueueRateLimit: rate(1) });
      await update({ updateQueueRateLimit: rate(-1) });
      await update({ updateFairnessKeyRateLimitDefault: rate(-1) });
      await update({
        updateQueueRateLimit: { ...rate(1), reason: "x".repeat(1001) },
      });
      await update({
        updateQueueRateLimit: rate(1),
        identity: "x".repeat(1001),
      });
    }),
);

test(
  "the rate of a worker's poll is in effect until the configuration has one",
  { skip },
  () =>
    compareSessions(both.services, async (session) => {
      const taskQueue = "worker-limits";
      const poll = session.call("pollActivityTaskQueue", {
        taskQueue: { name: taskQueue },
        taskQueueMetadata: { maxTasksPerSecond: 7 },
      }).catch(() => undefined);
      await source(session, taskQueue, 2);
      await describe(session, taskQueue);
      const request = {
        taskQueue,
        taskQueueType: ACTIVITY,
        identity: "operator",
      };
      await session.step("updateTaskQueueConfig", {
        ...request,
        updateQueueRateLimit: rate(3),
      });
      await source(session, taskQueue, 1);
      await describe(session, taskQueue);
      void poll;
    }),
);

function temporal(
  address: string,
  args: readonly string[],
): Promise<readonly unknown[]> {
  const all = [...args, "--address", address];
  return new Promise((resolve) =>
    execFile(
      temporalCli()!,
      all,
      { timeout: 60_000 },
      (error, out, err) =>
        resolve([
          error === null ? 0 : Number(error.code ?? 1),
          out.replace(
            /\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ \w+ ago|\bnow\b|\d+@\S+|temporal-cli:\S+/g,
            "<own>",
          ),
          err.replace(/time=\S+ /g, ""),
        ]),
    )
  );
}

const QUEUE = ["--task-queue", "cli-limits", "--task-queue-type", "activity"];
const COMMANDS = [
  ["get"],
  ["set", "--queue-rps-limit", "2.5", "--queue-rps-limit-reason", "slow API"],
  ["get"],
  ["get", "-o", "json"],
  [
    "set",
    "--fairness-key-rps-limit-default",
    "1",
    "--fairness-key-rps-limit-reason",
    "fair",
  ],
  ["get"],
  ["set", "--queue-rps-limit", "default"],
  ["get"],
  ["set", "--queue-rps-limit", "-1"],
  ["set", "--queue-rps-limit", "many"],
  ["set"],
];

test("the official command line has the same results", { skip }, async () => {
  const [expected, found] = await Promise.all(both.addresses.map(async (address) => {
    const results: unknown[] = [];
    for (const command of COMMANDS) {
      const [first, ...rest] = command;
      results.push(
        await temporal(address, [
          "task-queue",
          "config",
          first!,
          ...QUEUE,
          ...rest,
        ]),
      );
    }
    const workflow = [
      "--task-queue",
      "cli-limits",
      "--task-queue-type",
      "workflow",
    ];
    const set = [
      "task-queue",
      "config",
      "set",
      ...workflow,
      "--queue-rps-limit",
      "1",
    ];
    results.push(await temporal(address, set));
    return results;
  }));
  assert.deepEqual(found, expected);
});
