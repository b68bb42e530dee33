// Workflow code in the test's own thread: a task runner as the worker's realm, with history pages
// from the service.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { loadCore } from "../../../../ts/core/mod.ts";
import type { Program } from "../../../../ts/executor/program/program.ts";
import { TaskRunner } from "../../../../ts/executor/tasks/task_runner.ts";
import type { RawService } from "../../../../ts/service/raw.ts";
import { HistorySchema } from "../../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  GetWorkflowExecutionHistoryRequestSchema,
  GetWorkflowExecutionHistoryResponseSchema,
} from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { Realm } from "../../../../ts/realm/realm.ts";
import { rejectionHost } from "../../../cases/rejection_host.ts";

export async function inlineRealm(
  service: RawService,
  programs: (workflowType: string) => Program | undefined,
  stickyQueue = "",
): Promise<Realm> {
  const runner = new TaskRunner({
    core: await loadCore("worker"),
    programs,
    runOptions: {
      namespace: "default",
      identity: "interop",
      sdkVersion: "0.1.0",
      stickyQueue,
      stickyScheduleToStartTimeoutMs: 10_000,
    },
    cacheSize: stickyQueue === "" ? 0 : 100,
    rejections: rejectionHost,
    fetchHistory: async (workflowId, runId, nextPageToken) => {
      const request = create(GetWorkflowExecutionHistoryRequestSchema, {
        namespace: "default",
        execution: { workflowId, runId },
        nextPageToken,
      });
      const bytes = await service.call(
        "getWorkflowExecutionHistory",
        toBinary(GetWorkflowExecutionHistoryRequestSchema, request),
      );
      const page = fromBinary(GetWorkflowExecutionHistoryResponseSchema, bytes);
      return {
        history: toBinary(HistorySchema, page.history ?? create(HistorySchema)),
        nextPageToken: page.nextPageToken,
      };
    },
  });
  return {
    workflowTypes: [],
    takesAnyType: false,
    versioningBehaviors: new Map(),
    get cachedRuns() {
      return runner.cachedRuns;
    },
    runTask: (...args) => runner.runTask(...args),
    taskReported: (runId, response) => runner.taskReported(runId, response),
    evict: (runId) => runner.evict(runId),
    replay: (...args) => runner.replay(...args),
    dispose: () => Promise.resolve(runner.dispose()),
  };
}
