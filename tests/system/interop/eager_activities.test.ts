// Against a server that gives activities out with the report that schedules them: they run without
// a poll, each once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import {
  PollActivityTaskQueueResponseSchema,
  RespondWorkflowTaskCompletedResponseSchema,
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
        if (fromBinary(PollActivityTaskQueueResponseSchema, answer).taskToken.length > 0) {
          came.polled++;
        }
      } else if (method === "respondWorkflowTaskCompleted") {
        came.eager +=
          fromBinary(RespondWorkflowTaskCompletedResponseSchema, answer).activityTasks.length;
      }
      return answer;
    },
  };
  return { came, service: watching };
}

test(
  "eager activities arrive with the response to their scheduling report, if server and worker support it",
  { skip: noServer },
  async (t) => {
    const server = await DevServer.start(["system.enableActivityEagerExecution=true"]);
    const connection = new GrpcService({ address: server.address });
    try {
      const client = new Client({ service: connection, logger: silentLogger });
      const run = async (taskQueue: string, options: { maxActivitiesPerSecond?: number }) => {
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
          client.execute(eight, { id: taskQueue, taskQueue, args: [], executionTimeout: "1m" })
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
