// condition: waits until a function of the workflow's state returns true. Conditions are evaluated
// at creation, after each job of an activation, and whenever the run has drained, until none
// changes (docs/dev/semantics/compat.md#conditions).
import type { Duration } from "../common/time.ts";
import { currentCompatRun } from "../current.ts";
import { patched } from "./patches.ts";
import { CancellationScope, joinScope } from "./scope.ts";
import type { TimerOptions } from "./options.ts";
import { sleep } from "./timers.ts";

/**
 * With this patch a timeout of 0 is a timeout; without it (histories before 1.5), it means none.
 * The official SDK's patch id.
 */
const ZERO_TIMEOUT_PATCH = "__sdk_internal_patch_number:1";

/** Resolves when the function returns true; it is called again after every event of the run. */
export function condition(fn: () => boolean): Promise<void>;
/** Resolves to false on timeout. */
export function condition(
  fn: () => boolean,
  timeout: Duration,
  options?: TimerOptions,
): Promise<boolean>;
// Async: a promise returned from an async function settles its caller three ticks later.
export async function condition(
  fn: () => boolean,
  timeout?: Duration,
  options?: TimerOptions,
): Promise<boolean | void> {
  const run = currentCompatRun(
    "Workflow.condition(...) may only be used from a Workflow Execution.",
  );
  if (timeout === 0 && !patched(ZERO_TIMEOUT_PATCH)) return until(fn);
  if (typeof timeout !== "number" && typeof timeout !== "string") return until(fn);
  // The timer is started below more frames of this package than engines record.
  const site = run.calledAt(condition);
  const startTimer = () => {
    run.site = site;
    try {
      return sleep(timeout, options);
    } finally {
      run.site = "";
    }
  };
  const scope = new CancellationScope({ cancellable: true });
  return scope.run(async () => {
    try {
      return await Promise.race([
        startTimer().then(() => false),
        until(fn).then(() => true),
      ]);
    } finally {
      // Cancels the loser: an open timer, or the condition.
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
