// Outcomes of tasks whose realm was lost: an infinite loop, a crash, or a broken core. Built on the
// host, because the realm no longer runs.
import { toBinary } from "@bufbuild/protobuf";
import {
  CommandKind,
  CoreError,
  ErrorKind,
  EvictionReason,
  TaskOutcome,
} from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { toFailure } from "../converter/failure_converter.ts";
import { endsComputingThreads } from "../platform/threads.ts";
import type { ReplayError, ReplayVerdict } from "../executor/tasks/replay.ts";
import { FailedCause } from "../executor/program/errors.ts";
import { RealmLostError } from "./realm_lost.ts";
import { readRunStart } from "../messages/history_start.ts";
import { taskTokenOf, type WorkflowTask } from "../messages/workflow_task.ts";
import { CACHE_UNUSED, type RealmOutcome } from "../executor/tasks/realm_outcome.ts";
import { QueryResultType } from "../messages/generated/temporal/api/enums/v1/query_pb.ts";
import { FailureSchema } from "../messages/generated/temporal/api/failure/v1/message_pb.ts";
// By field names: descriptors of the service's messages would add all messages that they reference
// to every page that loads a realm.
import {
  RespondQueryTaskCompletedRequest as OfQuery,
  RespondWorkflowTaskFailedRequest as OfTask,
} from "../messages/generated/fields.ts";
import { Message } from "../messages/wire.ts";

/** Why a realm was lost. */
export type Loss =
  | { readonly kind: "spun"; readonly afterMs: number }
  | { readonly kind: "crashed"; readonly reason: string }
  | { readonly kind: "trapped"; readonly reason: string };

function describe(loss: Loss): string {
  switch (loss.kind) {
    case "spun": {
      const seconds = loss.afterMs % 1000 === 0 ? `${loss.afterMs / 1000} s` : `${loss.afterMs} ms`;
      return `ran for ${seconds} without yielding, so it was stopped: it has an infinite loop or computes for too long. Heavy work belongs in ` +
        `an activity; a loop that waits must await a workflow primitive such as sleep()` +
        (endsComputingThreads()
          ? ""
          : "; Deno leaves its thread computing until the process is started again (denoland/deno#35657), so a run gets two here, and no third");
    }
    case "crashed":
      return `crashed the thread of its realm (${loss.reason}); such heavy work belongs in an activity`;
    case "trapped":
      return `crashed the core of its realm (${loss.reason}); infinite recursion is the usual cause`;
  }
}

/** Returns the outcome of the task that caused it. */
export function lostTaskOutcome(
  task: WorkflowTask,
  loss: Loss,
  names: { readonly identity: string; readonly namespace: string },
): RealmOutcome {
  const { workflowType, workflowId, runId, query, attempt, startedEventId } = task.head;
  const message = `workflow "${workflowType}" (id "${workflowId}", run ${runId}) ${describe(loss)}`;
  const failure = toBinary(FailureSchema, toFailure(stackless(new RealmLostError(message))));
  const taskToken = taskTokenOf(task);
  const { identity, namespace } = names;
  const cause = FailedCause.UNHANDLED_FAILURE;
  const outcome = TaskOutcome.fromPartial({
    response: query !== undefined
      ? {
        $case: "queryCompleted",
        value: new Message().bytes(OfQuery.taskToken, taskToken).int(
          OfQuery.completedType,
          QueryResultType.FAILED,
        )
          .text(OfQuery.errorMessage, message).text(OfQuery.namespace, namespace).bytes(
            OfQuery.failure,
            failure,
          )
          .int(OfQuery.cause, cause).finish(),
      }
      // Only the first attempt is reported: the service times later ones out and backs off
      // (docs/dev/semantics/tasks.md#only-the-first-attempt-is-reported-as-failed).
      : attempt > 1
      ? { $case: "nothing", value: {} }
      : {
        $case: "failed",
        value: new Message().bytes(OfTask.taskToken, taskToken).int(OfTask.cause, cause).bytes(
          OfTask.failure,
          failure,
        )
          .text(OfTask.identity, identity).text(OfTask.namespace, namespace).finish(),
      },
    evict: true,
    evictionReason: EvictionReason.EVICTION_REASON_LANG_FAIL,
    error: CoreError.fromPartial({
      kind: ErrorKind.ERROR_KIND_LANG,
      message,
      taskStartedEventId: startedEventId,
    }),
  });
  return { ...outcome, cache: CACHE_UNUSED, runStartMs: 0 };
}

/**
 * Returns the verdict of the replay that caused it. `at`: event of the workflow task that it had
 * reached; 0: unknown.
 */
export function lostReplayVerdict(
  workflowId: string,
  history: Uint8Array,
  loss: Loss,
  at = 0,
  lastLine?: ReplayError["lastLine"],
): ReplayVerdict {
  const { workflowType = "", runId = "" } = readRunStart(history) ?? {};
  const message = `workflow "${workflowType}" (id "${workflowId}") ${describe(loss)}`;
  const commandKind = CommandKind.COMMAND_KIND_UNSPECIFIED;
  const none = {
    name: "RealmLostError",
    code: 0,
    eventId: at,
    eventType: at > 0 ? "WorkflowTaskStarted" : "",
    expected: "",
    actual: "",
    location: "",
    commandKind,
    seq: 0,
    diffs: [],
  };
  return {
    ...{
      verdict: "failed",
      workflowType,
      workflowId,
      runId,
      activations: 0,
      events: 0,
      warnings: [],
    },
    error: {
      ...none,
      message,
      thrown: { name: "RealmLostError", message },
      lost: loss.kind,
      ...(lastLine !== undefined && { lastLine }),
    },
  };
}

/** Removes the stack: frames of the host are irrelevant to the workflow. */
function stackless<E extends Error>(error: E): E {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
