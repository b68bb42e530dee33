// Workflow code is replaced in a worker of a real Temporal dev server, whose lists lag behind its
// histories, while messages arrive.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import {
  PollWorkflowTaskQueueResponseSchema,
  RespondWorkflowTaskCompletedResponseSchema,
} from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Client } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { Worker, WorkflowReplacementError } from "../../../ts/worker/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer } from "./support/dev_server.ts";

const RUNS = 25;
const code = (before: string, after: string) =>
  `import { activities, noreply, on, receive, signal, sleep, stop, workflow } from "temporalex/workflow";
const acts = activities({ startToClose: "10s" });
export const sums = workflow("Sums", async (name) => {
  ${before}
  await acts.step("a");
  const sum = await receive(0, [
    on(signal("add"), ([n], sum) => noreply(sum + n)),
    on(signal("go"), (_, sum) => stop(sum)),
  ]);
  ${after}
});
`;

let server: DevServer, service: GrpcService;

/** Notes the workflow tasks that arrive, by their run and their started event. */
function watchCalls(service: RawService) {
  const arrived = new Set<string>();
  const watching: RawService = {
    losesCancelledPolls: true,
    async call(method, request, options) {
      const answer = await service.call(method, request, options);
      const task = method === "pollWorkflowTaskQueue"
        ? fromBinary(PollWorkflowTaskQueueResponseSchema, answer)
        : method === "respondWorkflowTaskCompleted"
        ? fromBinary(RespondWorkflowTaskCompletedResponseSchema, answer).workflowTask
        : undefined;
      if (task?.workflowExecution !== undefined) {
        arrived.add(`${task.workflowExecution.runId} ${task.startedEventId}`);
      }
      return answer;
    },
  };
  return { arrived, watching };
}

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  service = new GrpcService({ address: server.address });
});

after(async () => {
  service?.close();
  await server?.stop();
});

test(
  "on a cluster: incompatible code is rejected with run and event, then a fix goes live without lost runs or failed tasks",
  {
    skip: noServer,
  },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-interop-"));
    const path = join(folder, "workflows.ts");
    const taskQueue = "replacement";
    const steps: string[] = [];
    const failed: string[] = [];
    writeFileSync(path, code("", 'return name + " " + sum + " old";'));
    const client = new Client({ service, taskQueue, logger: silentLogger });
    const { arrived, watching } = watchCalls(service);
    const worker = await Worker.create({
      service: watching,
      taskQueue,
      workflows: path,
      activities: { step: (name: string) => void steps.push(name) },
      logger: silentLogger,
      events: { workflowTaskFailed: ({ message }) => void failed.push(message) },
    });
    try {
      await worker.runUntil(async () => {
        const handles = await Promise.all(
          Array.from(
            { length: RUNS },
            (_, i) => client.start("Sums", { id: `sums-${i}`, args: [`s${i}`] }),
          ),
        );
        await until("all runs wait", () => steps.length >= RUNS);
        // At once: what the list does not show yet is known from the tasks of the worker itself.
        writeFileSync(path, code('await sleep("1m");', "return 0;"));
        const error = await worker.replaceWorkflows().then(() => undefined, (e) => e);
        assert.ok(error instanceof WorkflowReplacementError, String(error));
        assert.match(error.problems[0]!.location, /workflows\.ts:\d+:/);
        assert.equal(error.problems[0]!.eventId, 5);

        writeFileSync(path, code("", 'await acts.step("b");\n  return name + " " + sum + " new";'));
        let sent = 0;
        let replaced = false;
        const signals = (async () => {
          for (let i = 0; !replaced || sent < RUNS; i = (i + 1) % RUNS, sent++) {
            await handles[i]!.signal("add", 1);
          }
        })();
        const result = await worker.replaceWorkflows();
        replaced = true;
        await signals;
        assert.ok(result.checkedRuns >= RUNS, `${result.checkedRuns} checked`);
        await Promise.all(handles.map((handle) => handle.signal("go")));
        const sums = (await Promise.all(handles.map((handle) => handle.result())) as string[]).map(
          (text, i) => {
            assert.match(text, new RegExp(`^s${i} \\d+ new$`));
            return Number(text.split(" ")[1]);
          },
        );
        assert.equal(sums.reduce((a, b) => a + b), sent);
        assert.equal(steps.filter((name) => name === "b").length, RUNS);
        assert.deepEqual(failed, []);
        for (const handle of handles) {
          const { events } = await handle.fetchHistory();
          const { runId } = await handle.describe();
          // A busy server sometimes starts a task that no worker receives, and gives it out again
          // after 10 s.
          const wrong = events.filter(({ attributes }) =>
            attributes.case === "workflowTaskFailedEventAttributes" ||
            attributes.case === "workflowTaskTimedOutEventAttributes" &&
              arrived.has(`${runId} ${attributes.value.startedEventId}`)
          );
          assert.deepEqual(wrong, []);
        }
      });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);
