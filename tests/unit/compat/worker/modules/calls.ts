// Workflows that call activities, for the tests of this folder.
import {
  type ActivityFailure,
  type ApplicationFailure,
  CancellationScope,
  isCancellation,
  type LocalActivityOptions,
  proxyActivities,
  proxyLocalActivities,
  sleep,
} from "@temporalio/workflow";

// deno-lint-ignore no-explicit-any
type Any = any;

const activities = proxyActivities<Any>({
  ...{ startToCloseTimeout: "1 minute", heartbeatTimeout: "2s", retry: { maximumAttempts: 1 } },
  cancellationType: "WAIT_CANCELLATION_COMPLETED",
});
const local = proxyActivities<Any>({
  startToCloseTimeout: "1 minute",
  retry: { maximumAttempts: 3, initialInterval: 1 },
});

/** Calls one activity. */
export async function call(name: string, ...args: unknown[]): Promise<unknown> {
  return await activities[name](...args);
}

/** Calls one that may be tried again. */
export async function retried(name: string, ...args: unknown[]): Promise<unknown> {
  return await local[name](...args);
}

/** Calls a local one with these limits. */
export async function limited(name: string, limits: LocalActivityOptions): Promise<unknown> {
  return await proxyLocalActivities<Any>(limits)[name]();
}

/** What an activity failed with. */
export async function failure(name: string, ...args: unknown[]): Promise<unknown> {
  try {
    return await activities[name](...args);
  } catch (error) {
    const { cause } = error as ActivityFailure;
    const { type, message, nonRetryable, details, stack } = cause as ApplicationFailure;
    return { name: (cause as Error).name, type, message, nonRetryable, details, stack };
  }
}

/** Cancels an activity a moment after it has begun. */
export async function cancelled(name: string): Promise<string> {
  try {
    await CancellationScope.cancellable(async () => {
      const running = activities[name]();
      await sleep(300);
      CancellationScope.current().cancel();
      await running;
    });
    return "done";
  } catch (error) {
    return isCancellation(error) ? "cancelled" : String(error);
  }
}
