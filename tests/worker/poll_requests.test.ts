// Polls that are written by hand say what the generated messages would.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { TaskQueueKind } from "../../ts/api/generated/temporal/api/enums/v1/task_queue_pb.ts";
import {
  PollActivityTaskQueueRequestSchema,
  PollWorkflowTaskQueueRequestSchema,
} from "../../ts/api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Deployment } from "../../ts/worker/deployment.ts";
import { pollRequest } from "../../ts/worker/poll_requests.ts";

const deployment = new Deployment({ useWorkerVersioning: true, version: { deploymentName: "shop", buildId: "b7" } });
const who = { namespace: "späße", identity: "me", workerInstanceKey: "key" };

test("polls for workflow tasks, of the queue, of a sticky one, of a version", () => {
  for (
    const taskQueue of [
      { name: "q", kind: TaskQueueKind.NORMAL },
      { name: "q-sticky", kind: TaskQueueKind.STICKY, normalName: "q" },
    ]
  ) {
    for (const version of [undefined, deployment]) {
      const fields = { ...who, taskQueue, ...(version !== undefined && { deploymentOptions: version.options }) };
      assert.deepEqual(
        pollRequest({ ...who, taskQueue, deploymentOptions: version?.encoded }),
        toBinary(PollWorkflowTaskQueueRequestSchema, create(PollWorkflowTaskQueueRequestSchema, fields)),
      );
    }
  }
});

test("polls for activity tasks, with and without a limit, and what is empty is left out", () => {
  const taskQueue = { name: "q", kind: TaskQueueKind.NORMAL };
  for (const maxTasksPerSecond of [undefined, 0.5, 7, 100_000]) {
    const fields = {
      ...who,
      identity: "",
      taskQueue,
      deploymentOptions: deployment.options,
      ...(maxTasksPerSecond !== undefined && { taskQueueMetadata: { maxTasksPerSecond } }),
    };
    assert.deepEqual(
      pollRequest({ ...who, identity: "", taskQueue, deploymentOptions: deployment.encoded, maxTasksPerSecond }),
      toBinary(PollActivityTaskQueueRequestSchema, create(PollActivityTaskQueueRequestSchema, fields)),
    );
  }
});
