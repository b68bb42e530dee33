// Against servers that give activities out with the report that schedules them: they run without a
// poll, each once. The raw responses of Temporal's server and of the embedded engine are compared
// field by field, also those to eager starts.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary, toJson } from "@bufbuild/protobuf";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { CommandType } from "../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import {
  GetWorkflowExecutionHistoryResponseSchema,
  PollActivityTaskQueueResponseSchema,
  RespondWorkflowTaskCompletedResponseSchema,
  StartWorkflowExecutionResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { activities, parallel, workflow } from "../../../ts/workflow/mod.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

const { echo } = activities<{ echo(value: number): number }>({
  startToClose: "10s",
  retry: { maximumAttempts: 1 },
});

/** Five at once, then three one after the other. */
const eight = workflow("Eight", async () => {
  const first = await parallel([0, 1, 2, 3, 4].map((i) => () => echo(i)));
  let sum = first.reduce(
    (total, result) => total + ("value" in result ? result.value : Number.NaN),
    0,
  );
  for (const i of [5, 6, 7]) sum += await echo(i);
  return sum;
});

/** Counts tasks of activities by the way that they came. */
function watchCalls(service: RawService) {
  const came = { polled: 0, eager: 0 };
  const watching: RawService = {
    losesCancelledPolls: true,
    async call(method, request, options) {
      const answer = await service.call(method, request, options);
      if (method === "pollActivityTaskQueue") {
        if (
          fromBinary(PollActivityTaskQueueResponseSchema, answer).taskToken
            .length > 0
        ) {
          came.polled++;
        }
      } else if (method === "respondWorkflowTaskCompleted") {
        came.eager += fromBinary(RespondWorkflowTaskCompletedResponseSchema, answer)
          .activityTasks.length;
      }
      return answer;
    },
  };
  return { came, service: watching };
}

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Fields that differ by time, or that only newer or older servers have. */
const APART = new Set([
  ...[
    "taskToken",
    "taskId",
    "eventTime",
    "scheduledTime",
    "currentAttemptScheduledTime",
  ],
  ...["startedTime", "firstExecutionRunId", "historySizeBytes"],
  // The server leaves these out of eager activities, though polled ones have them.
  ...["retryPolicy", "priority"],
]);

function normalize(value: Json, runId: string): Json {
  if (Array.isArray(value)) return value.map((each) => normalize(each, runId));
  if (typeof value === "string") {
    return value === runId
      ? "<run>"
      : /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(value)
      ? "<id>"
      : value;
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([key]) => !APART.has(key)).map((
      [key, each],
    ) => [key, normalize(each, runId)]),
  );
}

/** A session of raw calls: eager starts in all their forms, and a completion that asks. */
async function eagerSession(raw: RawService): Promise<Json[]> {
  const service = typedService(raw);
  const common = { namespace: "default", identity: "me" };
  const taskQueue = { name: "eager-session" };
  const notes: Json[] = [];
  const start = async (workflowId: string, more: object = {}) => {
    const response = await service.startWorkflowExecution({
      ...{
        ...common,
        workflowId,
        taskQueue,
        workflowType: { name: "W" },
        requestId: workflowId,
      },
      ...{
        requestEagerExecution: true,
        workflowTaskTimeout: { seconds: 60n },
        ...more,
      },
    });
    notes.push(
      normalize(
        toJson(StartWorkflowExecutionResponseSchema, response) as Json,
        response.runId,
      ),
    );
    return response;
  };
  const { capabilities } = await service.getSystemInfo({});
  notes.push(capabilities!.eagerWorkflowStart);
  const first = await start("a");
  const again = await start("a");
  await start("a", { requestEagerExecution: false });
  const command = (activityId: string, requestEagerExecution: boolean) => ({
    commandType: CommandType.SCHEDULE_ACTIVITY_TASK,
    attributes: {
      case: "scheduleActivityTaskCommandAttributes" as const,
      value: {
        ...{
          activityId,
          requestEagerExecution,
          taskQueue,
          activityType: { name: "A" },
        },
        startToCloseTimeout: { seconds: 60n },
      },
    },
  });
  const completed = await service.respondWorkflowTaskCompleted({
    ...{ ...common, taskToken: again.eagerWorkflowTask!.taskToken },
    commands: [command("1", true), command("2", false), command("3", true)],
  });
  notes.push(
    normalize(
      toJson(RespondWorkflowTaskCompletedResponseSchema, completed) as Json,
      first.runId,
    ),
  );
  await start("a");
  for (const { taskToken } of completed.activityTasks) {
    await service.respondActivityTaskCompleted({ ...common, taskToken });
  }
  const history = await service.getWorkflowExecutionHistory({
    ...common,
    execution: { workflowId: "a" },
  });
  notes.push(
    normalize(
      toJson(GetWorkflowExecutionHistoryResponseSchema, history) as Json,
      first.runId,
    ),
  );
  await start("a", { requestId: "other", workflowIdConflictPolicy: 2 });
  await start("a", { requestId: "third", workflowIdConflictPolicy: 3 });
  await start("delayed", { workflowStartDelay: { seconds: 60n } });
  await start("cron", { cronSchedule: "0 0 1 1 *" });
  return notes;
}

test(
  "raw responses to eager starts and to completions equal those of a Temporal server",
  {
    skip: noServer,
  },
  async () => {
    const server = await DevServer.start([
      "system.enableActivityEagerExecution=true",
    ]);
    const connection = new GrpcService({ address: server.address });
    const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
    try {
      assert.deepEqual(
        await eagerSession(engine),
        await eagerSession(connection),
      );
    } finally {
      connection.close();
      await engine.close();
      await server.stop();
    }
  },
);

test(
  "eager activities arrive with the response to their scheduling report, if server and worker support it",
  { skip: noServer },
  async (t) => {
    const server = await DevServer.start([
      "system.enableActivityEagerExecution=true",
    ]);
    const connection = new GrpcService({ address: server.address });
    try {
      const client = new Client({ service: connection, logger: silentLogger });
      const run = async (
        taskQueue: string,
        options: { maxActivitiesPerSecond?: number },
      ) => {
        const { came, service } = watchCalls(connection);
        const ran: number[] = [];
        const echo = (value: number) => {
          ran.push(value);
          return value;
        };
        const worker = await Worker.create({
          ...{
            service,
            taskQueue,
            workflows: [eight],
            activities: { echo },
            logger: silentLogger,
            ...options,
          },
        });
        const sum = await worker.runUntil(() =>
          client.execute(eight, {
            id: taskQueue,
            taskQueue,
            args: [],
            executionTimeout: "1m",
          })
        );
        assert.equal(sum, 28);
        assert.deepEqual(ran.sort(), [0, 1, 2, 3, 4, 5, 6, 7]);
        return came;
      };
      await t.test("at most three activities of a report are eager, the others use the queue", async () => {
        assert.deepEqual(await run("eager", {}), { polled: 2, eager: 6 });
      });
      await t.test("a worker with maxActivitiesPerSecond gets no eager activities", async () => {
        assert.deepEqual(await run("paced", { maxActivitiesPerSecond: 1000 }), {
          polled: 8,
          eager: 0,
        });
      });
    } finally {
      connection.close();
      await server.stop();
    }
  },
);
