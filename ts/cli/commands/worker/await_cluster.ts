// A worker waits until its cluster has confirmed the namespace, and reports what it waits for. When
// a cluster starts, services start in any order, so unreachable addresses are retried. Errors that
// a retry cannot fix (certificate, key, unknown namespace) end the command.
import { Code, type RawService, ServiceError } from "../../../service/raw.ts";
import { backoffMs, type BackoffOptions, isMisconfigured } from "../../../service/retry.ts";
import { realTimers, sleepOn } from "../../../base/timers.ts";
import { namespaceRequest } from "../../../api/server_info.ts";
import { withCommandOptions } from "../../service/cluster.ts";
import { CommandError } from "../../frame/errors.ts";

/** Silence after which the wait is reported; a running cluster responds earlier. */
const SILENT_MS = 1000;
const ATTEMPT_MS = 10_000;
const BACKOFF: BackoffOptions = {
  initialIntervalMs: 100,
  maximumIntervalMs: 2000,
  backoffCoefficient: 2,
  jitter: 0.3,
};

/** Transient errors of DescribeNamespace. */
const PASSING: ReadonlySet<number> = new Set([
  Code.UNAVAILABLE,
  Code.DEADLINE_EXCEEDED,
  Code.RESOURCE_EXHAUSTED,
  Code.INTERNAL,
  Code.UNKNOWN,
  Code.ABORTED,
  Code.CANCELLED,
]);

export interface Awaited {
  readonly service: RawService;
  /** `host:port`. */
  readonly where: string;
  readonly namespace: string;
  readonly signal: AbortSignal;
  /**
   * Called with the reason of the wait: at the first error and whenever it changes; "" while there
   * is only silence.
   */
  readonly tell: (why: string) => void;
}

/**
 * Resolves when the service has confirmed the namespace. Rejects with a CommandError for permanent
 * errors, and with the signal's reason.
 */
export async function awaitCluster(
  { service, where, namespace, signal, tell }: Awaited,
): Promise<RawService> {
  let told: string | undefined;
  const say = (why: string) => {
    if (why !== told) tell(told = why);
  };
  const silence = setTimeout(() => told ?? say(""), SILENT_MS);
  try {
    for (let attempt = 1;; attempt++) {
      signal.throwIfAborted();
      try {
        await service.call("describeNamespace", namespaceRequest(namespace), {
          timeoutMs: ATTEMPT_MS,
          signal,
        });
        return service;
      } catch (error) {
        signal.throwIfAborted();
        if (!passes(error)) throw refusal(error, where, namespace);
        say(withCommandOptions(error.message).replace(`cannot connect to ${where}: `, ""));
      }
      await sleepOn(realTimers, backoffMs(attempt, BACKOFF), signal);
    }
  } finally {
    clearTimeout(silence);
  }
}

/** Returns whether the error is transient. An unknown host may be a service that is starting. */
function passes(error: unknown): error is ServiceError {
  if (!(error instanceof ServiceError) || !PASSING.has(error.code)) return false;
  return !isMisconfigured(error) || error.metadata["code"] === "ENOTFOUND";
}

function refusal(error: unknown, where: string, namespace: string): unknown {
  if (!(error instanceof ServiceError)) return error;
  const at = `the Temporal cluster at ${where}`;
  const why = isMisconfigured(error)
    ? withCommandOptions(error.message)
    : error.code === Code.NOT_FOUND
    ? `${at} has no namespace "${namespace}", or does not show it to this worker; see --namespace`
    : error.code === Code.UNAUTHENTICATED
    ? `${at} does not accept the credentials (--api-key, or the client certificate): ${error.message}`
    : error.code === Code.PERMISSION_DENIED
    ? `${at} does not let this worker use the namespace "${namespace}": ${error.message}`
    : `${at} cannot be used: ${error.message}`;
  return new CommandError(why, { cause: error });
}
