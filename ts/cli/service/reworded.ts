// Errors of clients with the command's options in their advice and the address of an unavailable
// cluster.
import {
  DeadlineExceededError,
  NamespaceNotFoundError,
  QueryRejectedError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from "../../client/errors.ts";
import { NOT_CONNECTED } from "../../grpc/links.ts";
import { ServiceError } from "../../service/raw.ts";
import { CommandError } from "../frame/errors.ts";
import { shellWord } from "../text/values.ts";
import { withCommandOptions } from "./cluster.ts";

interface Place {
  /** "store /path/of/it" or "host:port". */
  readonly where: string;
  readonly cluster: boolean;
  /** Value of `--store`. */
  readonly store: string | undefined;
  readonly workflowId?: string | undefined;
}

/** Replaces API options in an error's advice by command options. */
export function inOurWords(error: unknown, { where, cluster, store, workflowId }: Place): unknown {
  if (error instanceof WorkflowExecutionAlreadyStartedError) {
    const run = error.runId === undefined ? "" : ` (run ${error.runId})`;
    return reworded(
      error,
      `workflow ${error.workflowId} already exists${run}; use another --workflow-id, --id-conflict-policy UseExisting to use the running ` +
        "one, or an --id-reuse-policy that allows a new run",
    );
  }
  if (
    error instanceof WorkflowNotFoundError &&
    /^workflow (?:execution )?not found/i.test(error.message)
  ) {
    const run = error.runId === undefined ? "" : `, run ${error.runId},`;
    return reworded(
      error,
      `workflow ${error.workflowId}${run} not found ${
        cluster ? "on" : "in"
      } ${where}; check the id, --namespace and ` +
        (cluster ? "--address" : "--store"),
    );
  }
  if (error instanceof NamespaceNotFoundError) {
    return reworded(error, error.message.replace("the client's `namespace`", "--namespace"));
  }
  if (error instanceof QueryRejectedError) {
    return reworded(
      error,
      error.message.replace("omit rejectCondition", "omit --reject-condition"),
    );
  }
  if (error instanceof DeadlineExceededError && error.updateId !== undefined) {
    return reworded(
      error,
      `the update did not complete in time; it may still complete: wait for it with temporalex workflow update result ` +
        `${workflowId === undefined ? "" : `--workflow-id ${shellWord(workflowId)} `}--update-id ${
          shellWord(error.updateId)
        }`,
    );
  }
  const away = cluster ? notConnected(error) : undefined;
  if (away !== undefined) {
    const why = withCommandOptions(away.message);
    if (/ through the proxy /.test(why)) return reworded(error as Error, why);
    if (!/\b(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH)\b/.test(why)) {
      return reworded(error as Error, why);
    }
    return reworded(
      error as Error,
      `cannot reach a Temporal cluster at ${where} (${why}); check --address, or omit it to use a local store`,
    );
  }
  if (error instanceof DeadlineExceededError) {
    return reworded(error, error.message.replace("increase the timeout", "increase the --timeout"));
  }
  if ((error as { reason?: string }).reason === "NoStore" && store === undefined) {
    return new CommandError(
      `${
        (error as Error).message
      }; set --store or TEMPORALEX_STORE, or set --address for a cluster`,
    );
  }
  return error;
}

/**
 * Returns why a call was not sent: the error of its attempt, or of the last one before the
 * deadline.
 */
function notConnected(error: unknown): ServiceError | undefined {
  for (let e: unknown = error; e instanceof Error; e = e.cause as unknown) {
    if (e instanceof ServiceError && e.reason === NOT_CONNECTED) return e;
  }
  return undefined;
}

/** Returns the same error with another message. */
export function reworded(error: Error, message: string): Error {
  const copy = Object.create(error) as Error;
  Object.defineProperty(copy, "message", { value: message });
  // Drops a cause that repeats the original message.
  if (error.cause instanceof Error && error.cause.message === error.message) {
    Object.defineProperty(copy, "cause", { value: undefined });
  }
  return copy;
}
