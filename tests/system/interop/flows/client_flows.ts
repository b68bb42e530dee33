// Workflows for tests of clients, written for `@temporalio/workflow`.
import {
  ApplicationFailure,
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
  sleep,
  upsertMemo,
  workflowInfo,
} from "@temporalio/workflow";

export const add = defineSignal<[number]>("add");
export const finish = defineSignal("finish");
export const total = defineQuery<number>("total");
export const addAndGet = defineUpdate<number, [number]>("addAndGet");

export async function counter(start = 0): Promise<number> {
  let sum = start, done = false;
  setHandler(add, (n) => void (sum += n));
  setHandler(finish, () => void (done = true));
  setHandler(total, () => sum);
  setHandler(addAndGet, (n) => {
    if (n === 13) throw ApplicationFailure.nonRetryable("thirteen", "Unlucky", { n });
    return sum += n;
  }, {
    validator: (n) => {
      if (n < 0) throw new Error("no negative numbers");
    },
  });
  upsertMemo({ last: "seen" });
  await condition(() => done);
  return sum;
}

export async function echo(...args: unknown[]): Promise<unknown> {
  return args.length === 1 ? args[0] : args;
}

export async function fails(): Promise<never> {
  throw ApplicationFailure.create({
    message: "it broke",
    type: "Broken",
    nonRetryable: true,
    details: [1, { two: 2 }],
  });
}

export async function forever(): Promise<void> {
  await sleep("1 day");
}

export async function again(left: number): Promise<string> {
  if (left > 0) await continueAsNew<typeof again>(left - 1);
  return `end of ${
    workflowInfo().firstExecutionRunId === workflowInfo().runId ? "the first run" : "a later run"
  }`;
}

const { later } = proxyActivities<{ later(): Promise<string> }>({
  startToCloseTimeout: "1 minute",
  retry: { maximumAttempts: 1 },
});
export async function waits(): Promise<string> {
  return await later();
}
