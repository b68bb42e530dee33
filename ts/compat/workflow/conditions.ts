// condition: waits until a function of the workflow's state is true. Conditions are evaluated when
// they are made, after each job of an activation and whenever the run has drained, until none of
// them changes (docs/dev/semantics/compat.md#conditions).
import type { Duration } from "../common/time.ts";
import { currentCompatRun } from "../current.ts";
import { patched } from "./patches.ts";
import { CancellationScope, joinScope } from "./scope.ts";
import type { TimerOptions } from "./options.ts";
import { sleep } from "./timers.ts";

/** With it, a timeout of 0 is a timeout; without it (histories of before 1.5), none. The name is the official SDK's own. */
const ZERO_TIMEOUT_PATCH = "__sdk_internal_patch_number:1";

/** Resolves when the function returns true; it is called again whenever something has happened in the run. */
export function condition(fn: () => boolean): Promise<void>;
/** Resolves to false when the time is up first. */
export function condition(fn: () => boolean, timeout: Duration, options?: TimerOptions): Promise<boolean>;
// Async on purpose: a promise that is returned from an async function settles its caller three ticks later.
export async function condition(fn: () => boolean, timeout?: Duration, options?: TimerOptions): Promise<boolean | void> {
  currentCompatRun("Workflow.condition(...) may only be used from a Workflow Execution.");
  if (timeout === 0 && !patched(ZERO_TIMEOUT_PATCH)) return until(fn);
  if (typeof timeout !== "number" && typeof timeout !== "string") return until(fn);
  const scope = new CancellationScope({ cancellable: true });
  return scope.run(async () => {
    try {
      return await Promise.race([sleep(timeout, options).then(() => false), until(fn).then(() => true)]);
    } finally {
      // Whichever lost is cancelled: an open timer, or the condition.
      scope.cancel();
    }
  });
}

function until(fn: () => boolean): Promise<void> {
  const run = currentCompatRun();
  return new Promise((resolve, reject) => {
    let id = 0;
    const alive = joinScope(reject, (error) => {
      run.conditions.delete(id);
      reject(error);
    });
    if (!alive) return;
    id = run.nextConditionId++;
    if (fn()) resolve();
    else run.conditions.set(id, run.waitsAt("condition", { fn, resolve }));
  });
}
