// Interceptor module for tests: a failed assertion fails the workflow. By default it fails the
// workflow task, which is retried. Runs in the workflow's realm.
import { AssertionError } from "node:assert";
import { ApplicationFailure } from "temporalex/compat/workflow";

// deno-lint-ignore no-explicit-any
type Next = (input: any) => any;

async function failing(input: unknown, next: Next): Promise<unknown> {
  try {
    return await next(input);
  } catch (error) {
    if (!(error instanceof AssertionError)) throw error;
    const failure = ApplicationFailure.nonRetryable(error.message);
    if (error.stack !== undefined) failure.stack = error.stack;
    throw failure;
  }
}

/** Called by the worker for each run. */
export const interceptors = (): {
  inbound: { handleSignal: typeof failing; execute: typeof failing }[];
} => ({
  inbound: [{ handleSignal: failing, execute: failing }],
});
