// Sending what a worker has to report. The service decides once what happened to a task, so a report is repeated while the service is
// unavailable; after a minute it is given up, and the service times the task out and hands it out again.
import type { Logger } from "../service/logger.ts";
import { Code, type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { backoffMs, type BackoffOptions, isUnavailable } from "../service/retry.ts";
import { sleepOn, type Timers } from "../service/timers.ts";

const BACKOFF: BackoffOptions = { initialIntervalMs: 50, maximumIntervalMs: 3000, backoffCoefficient: 2, jitter: 0.3 };
const GIVE_UP_MS = 60_000;
const ATTEMPT_MS = 10_000;

export interface ReportContext {
  service: RawService;
  timers: Timers;
  logger: Logger;
}

/** One report, repeated while the service cannot be reached. Rejects with the service's answer or with the last failure. */
export async function report(context: ReportContext, method: MethodName, request: Uint8Array): Promise<Uint8Array> {
  const { service, timers, logger } = context;
  const since = timers.now();
  for (let attempt = 1;; attempt++) {
    try {
      return await service.call(method, request, { timeoutMs: ATTEMPT_MS });
    } catch (error) {
      const away = isUnavailable(error) || hasCode(error, Code.DEADLINE_EXCEEDED);
      if (!away || timers.now() - since > GIVE_UP_MS) throw error;
      logger.debug("a report did not reach the service and is repeated", { method, attempt, error });
      await sleepOn(timers, backoffMs(attempt, BACKOFF));
    }
  }
}

export function hasCode(error: unknown, code: Code): error is ServiceError {
  return error instanceof ServiceError && error.code === code;
}
