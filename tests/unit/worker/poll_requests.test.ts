// Polls that are written by hand say what the generated messages would.
import assert from "node:assert/strict";
import { test } from "node:test";
import { create, toBinary } from "@bufbuild/protobuf";
import { TaskQueueKind } from "../../../ts/messages/generated/temporal/api/enums/v1/task_queue_pb.ts";
import {
  PollActivityTaskQueueRequestSchema,
  PollWorkflowTaskQueueRequestSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { BuildStamp } from "../../../ts/worker/build_stamp.ts";
import { Deployment } from "../../../ts/worker/deployment.ts";
import { pollRequest } from "../../../ts/worker/polls/poll_requests.ts";

const deployment = new Deployment({
  useWorkerVersioning: true,
  version: { deploymentName: "shop", buildId: "b7" },
});
const who = { namespace: "späße", identity: "me", workerInstanceKey: "key" };

test("polls for workflow tasks use the queue, the sticky queue and the version", () => {
  for (
    const taskQueue of [
      { name: "q", kind: TaskQueueKind.NORMAL },
      { name: "q-sticky", kind: TaskQueueKind.STICKY, normalName: "q" },
    ]
  ) {
    for (
      const [version, own] of [
        [undefined, {}],
        [deployment, deployment.report],
        [new BuildStamp({ buildId: "b8", useVersioning: false }), {
          workerVersionCapabilities: { buildId: "b8" },
        }],
        [
          new BuildStamp({ buildId: "b8", useVersioning: true }),
          { workerVersionCapabilities: { buildId: "b8", useVersioning: true } },
        ],
      ] as const
    ) {
      const fields = { ...who, taskQueue, ...own };
      assert.deepEqual(
        pollRequest({ ...who, taskQueue, ...version?.poll }),
        toBinary(
          PollWorkflowTaskQueueRequestSchema,
          create(PollWorkflowTaskQueueRequestSchema, fields),
        ),
      );
    }
  }
});

test("polls for activity tasks have an optional limit, and omit empty fields", () => {
  const taskQueue = { name: "q", kind: TaskQueueKind.NORMAL };
  for (const maxTasksPerSecond of [undefined, 0.5, 7, 100_000]) {
    const fields = {
      ...who,
      identity: "",
      taskQueue,
      ...deployment.report,
      ...(maxTasksPerSecond !== undefined && { taskQueueMetadata: { maxTasksPerSecond } }),
    };
    assert.deepEqual(
      pollRequest({ ...who, identity: "", taskQueue, ...deployment.poll, maxTasksPerSecond }),
      toBinary(
        PollActivityTaskQueueRequestSchema,
        create(PollActivityTaskQueueRequestSchema, fields),
      ),
    );
  }
});
