// The first workflow task of a run, as a service would hand it out: bytes of
// PollWorkflowTaskQueueResponse.
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { EventType } from "../../ts/messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { PollWorkflowTaskQueueResponseSchema } from "../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

export function firstTask(workflowType: string, runId: string): Uint8Array {
  const eventTime = timestampFromMs(Date.UTC(2026, 0, 1));
  const taskQueue = { name: "bench" };
  const started = {
    case: "workflowExecutionStartedEventAttributes",
    value: {
      workflowType: { name: workflowType },
      taskQueue,
      originalExecutionRunId: runId,
      firstExecutionRunId: runId,
      attempt: 1,
      workflowId: runId,
      workflowTaskTimeout: { seconds: 10n },
    },
  } as const;
  const scheduled = {
    case: "workflowTaskScheduledEventAttributes",
    value: { taskQueue, attempt: 1 },
  } as const;
  const taken = {
    case: "workflowTaskStartedEventAttributes",
    value: { scheduledEventId: 2n },
  } as const;
  return toBinary(
    PollWorkflowTaskQueueResponseSchema,
    create(PollWorkflowTaskQueueResponseSchema, {
      taskToken: new TextEncoder().encode(`task of ${runId}`),
      workflowExecution: { workflowId: runId, runId },
      workflowType: { name: workflowType },
      startedEventId: 3n,
      attempt: 1,
      history: {
        events: [
          {
            eventId: 1n,
            eventTime,
            eventType: EventType.WORKFLOW_EXECUTION_STARTED,
            attributes: started,
          },
          {
            eventId: 2n,
            eventTime,
            eventType: EventType.WORKFLOW_TASK_SCHEDULED,
            attributes: scheduled,
          },
          { eventId: 3n, eventTime, eventType: EventType.WORKFLOW_TASK_STARTED, attributes: taken },
        ],
      },
      workflowExecutionTaskQueue: taskQueue,
    }),
  );
}
