// Why an open workflow does not go on, as the service knows it: a workflow task that fails again and again, an activity that does. Whoever
// waits in vain at a terminal need not go and find the worker's log.
import type { Client } from "../../client/client.ts";
import type { Failure } from "../../api/generated/temporal/api/failure/v1/message_pb.ts";
import { userFrame } from "../../executor/program/call_site.ts";
import { shellWord } from "../text/values.ts";
import type { Handle } from "./open_service.ts";

/** What the last failed workflow task said, and the line of the user's code that threw ("" where the stack has none). */
export interface TaskFailure {
  readonly message: string;
  readonly at: string;
}

/**
 * The failure of the workflow task that is tried again at the history's end; undefined when the last one did not fail. Of many attempts
 * history has the first one's failure alone.
 */
export async function lastTaskFailure(handle: Handle): Promise<TaskFailure | undefined> {
  const { events } = await handle.fetchHistory();
  for (const { attributes } of events.reverse()) {
    if (attributes.case === "workflowTaskCompletedEventAttributes") return undefined;
    if (attributes.case === "workflowTaskFailedEventAttributes") return taskFailure(attributes.value.failure);
  }
  return undefined;
}

function taskFailure(failure: Failure | undefined): TaskFailure {
  return { message: failure?.message ?? "", at: userFrame(failure?.stackTrace) };
}

/** "message (at function (file:line:column))" */
export const failureLine = ({ message, at }: TaskFailure): string => at === "" ? message : `${message} (at ${at})`;

/** What a worker says of a type that it has no code for: ours (executor/tasks/unknown_program.ts), and Temporal's TypeScript SDK. */
export const isUnknownType = ({ message }: TaskFailure): boolean =>
  /^workflow type ".*" is not known to this worker|no such function is exported by the workflow bundle/s.test(message);

/** Why the workflow does not go on, in a sentence; "" when the service knows of nothing, or does not answer soon. Never throws. */
export async function blockedReason(client: Client, workflowId: string, runId: string | undefined): Promise<string> {
  try {
    const handle = (client.getHandle(undefined as string | undefined, workflowId, runId) as Handle).with({ timeout: 2000 });
    const described = await handle.describe();
    const { status, paused, taskQueue, pendingWorkflowTask: task, pendingActivities, pendingProcedures, pendingChildren } =
      described;
    if (paused !== undefined) return `it is ${paused.reason}`;
    if (status !== "RUNNING") return "";
    const failure = task !== undefined && task.attempt > 1 ? await lastTaskFailure(handle) : undefined;
    if (failure !== undefined) {
      const advice = isUnknownType(failure) ? "Start a worker that has it" : "Fix the code";
      const line = failureLine(failure);
      return `its workflow task fails (attempt ${task!.attempt}): ${line}. ${advice}; the workflow then continues`;
    }
    const failing = pendingActivities.find(({ lastFailure }) => lastFailure !== undefined);
    if (failing !== undefined) {
      return `its activity ${failing.activityType} fails (attempt ${failing.attempt}): ${failing.lastFailure!.message}`;
    }
    const waiting = pendingActivities[0];
    const [child] = pendingChildren;
    const [procedure] = pendingProcedures;
    if (waiting === undefined && procedure !== undefined) {
      return `it waits for procedure ${procedure.name} (temporalex workflow procedure complete)`;
    }
    if (waiting === undefined && child !== undefined) {
      const more = pendingChildren.length > 1 ? ` and for ${pendingChildren.length - 1} more` : "";
      return `it waits for its child ${child.workflowType} (id ${child.workflowId})${more}`;
    }
    if (waiting === undefined && task?.state === "SCHEDULED") {
      return `its workflow task waits for a worker of task queue "${taskQueue}" (temporalex worker --task-queue ${
        shellWord(taskQueue)
      })`;
    }
    if (waiting === undefined) return "";
    return waiting.state === "SCHEDULED"
      ? `its activity ${waiting.activityType} waits for a worker that has activities (temporalex worker --activities)`
      : `its activity ${waiting.activityType} is running (attempt ${waiting.attempt})`;
  } catch {
    return "";
  }
}
