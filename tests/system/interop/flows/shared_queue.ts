// A program that two workers run in turn, Temporal's own and that of temporalex/compat/worker: each
// workflow task may be either's.
import {
  ActivityFailure,
  type ApplicationFailure,
  condition,
  defineQuery,
  defineSignal,
  executeChild,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  TimeoutFailure,
  uuid4,
  workflowInfo,
} from "@temporalio/workflow";

// deno-lint-ignore no-explicit-any
type Any = any;

const { add, fail } = proxyActivities<Any>({
  startToCloseTimeout: "20s",
  retry: { maximumAttempts: 1 },
});
const { local } = proxyLocalActivities<Any>({
  startToCloseTimeout: "1 minute",
});
const more = defineSignal<[number]>("more");
const sum = defineQuery<number>("sum");

/**
 * Calls an activity until a worker completes it. A busy server may assign a task to a poll that is
 * gone: then nothing runs until its timeout. Each attempt is a separate activity, so history shows
 * which worker the task was for.
 */
async function untilCompleted<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ActivityFailure && error.cause instanceof TimeoutFailure)) throw error;
    }
  }
}

/** Adds what it is given, by one way after the other. */
export async function adds(
  rounds: number,
): Promise<{ total: number; failure: string; ids: number }> {
  let total = 0;
  setHandler(more, (n) => void (total += n));
  setHandler(sum, () => total);
  const ids = new Set<string>();
  for (let i = 0; i < rounds; i++) {
    // Not `total += await ...`: that adds to what the sum was before the signal.
    const one = await untilCompleted<number>(() => add(i, 1));
    total += one - i;
    ids.add(uuid4());
    if (patched(`round-${i}`)) await sleep(1);
    const extra = i % 3 === 0 ? await local(i) : 0;
    total += extra;
  }
  const more10 = await executeChild(child, {
    args: [10],
    workflowId: `${workflowInfo().workflowId}-child`,
  });
  total += more10;
  await condition(() => total >= 1000);
  try {
    await untilCompleted(() => fail("as requested"));
  } catch (error) {
    const { cause } = error as ActivityFailure;
    return {
      total,
      failure: (cause as ApplicationFailure).message,
      ids: ids.size,
    };
  }
  throw new Error("the activity did not fail");
}

/** A child of it. */
export async function child(n: number): Promise<number> {
  await sleep(1);
  return n + Math.round(Math.random());
}
