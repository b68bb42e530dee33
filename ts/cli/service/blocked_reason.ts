// Why an open workflow makes no progress, as known to the service: a workflow task or an activity
// that fails repeatedly. Shown to a waiting user, in place of the worker's log.
import type { Client } from "../../client/client.ts";
import type { Failure } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import { userFrame } from "../../executor/program/call_site.ts";
import { shellWord } from "../text/values.ts";
import type { Handle } from "./open_service.ts";

/**
 * Message of the last failed workflow task, and the line of user code that threw ("" if not in the
 * stack).
 */
export interface TaskFailure {
  readonly message: string;
  readonly at: string;
}

/**
 * Returns the failure of the workflow task that is being retried at the end of the history;
 * undefined if the last one did not fail. History has only the first of several failed attempts.
 */
export async function lastTaskFailure(handle: Handle): Promise<TaskFailure | undefined> {
  const { events } = await handle.fetchHistory();
  for (const { attributes } of events.reverse()) {
    if (attributes.case === "workflowTaskCompletedEventAttributes") return undefined;
    if (attributes.case === "workflowTaskFailedEventAttributes") {
      return taskFailure(attributes.value.failure);
    }
  }
  return undefined;
}

function taskFailure(failure: Failure | undefined): TaskFailure {
  return { message: failure?.message ?? "", at: userFrame(failure?.stackTrace) };
}

/** Formats "message (at function (file:line:column))". */
export const failureLine = ({ message, at }: TaskFailure): string =>
  at === "" ? message : `${message} (at ${at})`;

/**
 * Returns whether a worker does not know the type: in this package
 * (executor/tasks/unknown_program.ts) or Temporal's TypeScript SDK.
 */
export const isUnknownType = ({ message }: TaskFailure): boolean =>
  /^workflow type ".*" is not known to this worker|no such function is exported by the workflow bundle/s
    .test(message);

/**
 * Returns why the workflow makes no progress, in a sentence; "" if not known, or if the service is
 * slow. Never throws.
 */
export async function blockedReason(
  client: Client,
  workflowId: string,
  runId: string | undefined,
): Promise<string> {
  try {
    const handle = (client.getHandle(undefined as string | undefined, workflowId, runId) as Handle)
      .with({ timeout: 2000 });
    const described = await handle.describe();
    const {
      status,
      paused,
      taskQueue,
      pendingWorkflowTask: task,
      pendingActivities,
      pendingProcedures,
      pendingChildren,
    } = described;
    if (paused !== undefined) return `it is ${paused.reason}`;
    if (status !== "RUNNING") return "";
    const failure = task !== undefined && task.attempt > 1
      ? await lastTaskFailure(handle)
      : undefined;
    if (failure !== undefined) {
      const advice = isUnknownType(failure) ? "Start a worker that has it" : "Fix the code";
      const line = failureLine(failure);
      return `its workflow task fails (attempt ${
        task!.attempt
      }): ${line}. ${advice}; the workflow then continues`;
    }
    const failing = pendingActivities.find(({ lastFailure }) => lastFailure !== undefined);
    if (failing !== undefined) {
      return `its activity ${failing.activityType} fails (attempt ${failing.attempt}): ${
        failing.lastFailure!.message
      }`;
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
