// Log lines for the outcome of a workflow task.
import { fromBinary } from "@bufbuild/protobuf";
import { ErrorKind } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { hasHiddenText } from "../../converter/failure_converter.ts";
import { userFrame } from "../../executor/program/call_site.ts";
import type { RealmOutcome, TaskHead } from "../../realm/realm.ts";
import type { Logger } from "../../base/logger.ts";
import { RespondWorkflowTaskFailedRequestSchema } from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

/** Logs the warnings and the failure of a task; text of workflow code only if it is not hidden. */
export function logOutcome(
  outcome: RealmOutcome,
  head: TaskHead,
  logger: Logger,
  hidesText: boolean,
): void {
  for (const warning of outcome.warnings) {
    logger.warn(warning.message, { code: warning.code, eventId: warning.eventId || undefined });
  }
  if (outcome.error === undefined) return;
  const { kind, message, eventId, expected, actual } = outcome.error;
  const failure = readFailure(outcome);
  const hideText = hidesText || hasHiddenText(failure);
  const at = hideText
    ? undefined
    : failure === undefined
    ? outcome.at
    : userFrame(failure.stackTrace) || undefined;
  const cause = CAUSES.get(kind);
  const info = failure?.failureInfo;
  const advice = info?.case === "applicationFailureInfo" && info.value.type === "Error"
    ? ADVICE
    : undefined;
  const fields = {
    cause,
    ...(advice !== undefined && { advice }),
    at,
    eventId: eventId || undefined,
    expected: expected || undefined,
    actual: actual || undefined,
  };
  // Text of workflow code belongs to the user; the core names only events and commands.
  const said = hideText && kind === ErrorKind.ERROR_KIND_LANG ? "" : `: ${message}`;
  logger.error(`${head.query !== undefined ? "a query" : "a workflow task"} failed${said}`, fields);
}

/** The cause, in words. */
const CAUSES: ReadonlyMap<ErrorKind, string> = new Map([
  [ErrorKind.ERROR_KIND_LANG, "workflow code"],
  [ErrorKind.ERROR_KIND_NONDETERMINISM, "the code does not match the history"],
  [ErrorKind.ERROR_KIND_FATAL, "the history is damaged"],
  [ErrorKind.ERROR_KIND_UNSUPPORTED, "the history has entries that this version does not support"],
  [ErrorKind.ERROR_KIND_MISUSE, "internal error in temporalex"],
]);

/** An Error without a type is most often meant to fail the workflow. */
const ADVICE =
  "throw an ApplicationFailure to fail the workflow; any other error counts as a bug, and the task is retried until the code is fixed";

/** Returns the failure that the task reports; undefined if it did not fail. */
const readFailure = ({ response }: RealmOutcome) =>
  response?.$case !== "failed"
    ? undefined
    : fromBinary(RespondWorkflowTaskFailedRequestSchema, response.value).failure;
