// A worker's first word with its cluster: it works when the namespace was found, and until then whoever looks at it sees what it waits for.
// In a cluster that starts, everything starts at once, so an address where nobody answers yet is asked until somebody does; what no
// repetition fixes (a certificate, a key, a namespace that is not there) ends the command with its reason.
import { Code, type RawService, ServiceError } from "../../../service/raw.ts";
import { backoffMs, type BackoffOptions, isMisconfigured } from "../../../service/retry.ts";
import { realTimers, sleepOn } from "../../../base/timers.ts";
import { namespaceRequest } from "../../../api/server_info.ts";
import { withCommandOptions } from "../../service/cluster.ts";
import { CommandError } from "../../frame/errors.ts";

/** Silence for so long is told; a cluster that is there has answered by then. */
const SILENT_MS = 1000;
const ATTEMPT_MS = 10_000;
const BACKOFF: BackoffOptions = { initialIntervalMs: 100, maximumIntervalMs: 2000, backoffCoefficient: 2, jitter: 0.3 };

/** Refusals that pass by themselves; DescribeNamespace has no others. */
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
  /** Why nothing happens: at the first trouble and whenever the trouble is another one; "" where there is but silence so far. */
  readonly tell: (why: string) => void;
}

/**
 * The service, when it has answered that it has the namespace. Rejects with a CommandError for what no repetition fixes, and with the
 * signal's reason.
 */
export async function awaitCluster({ service, where, namespace, signal, tell }: Awaited): Promise<RawService> {
  let told: string | undefined;
  const say = (why: string) => {
    if (why !== told) tell(told = why);
  };
  const silence = setTimeout(() => told ?? say(""), SILENT_MS);
  try {
    for (let attempt = 1;; attempt++) {
      signal.throwIfAborted();
      try {
        await service.call("describeNamespace", namespaceRequest(namespace), { timeoutMs: ATTEMPT_MS, signal });
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

/** A name that nobody knows yet may be that of a service which starts beside this worker. */
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
