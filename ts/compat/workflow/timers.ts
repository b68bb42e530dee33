// Durable timers: sleep, and setTimeout/clearTimeout for programs of the official SDK.
import { type OptionNames, rejectMisspelledOptions } from "../../base/option_names.ts";
import { CommandKind } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { type Duration, msToNumber } from "../common/time.ts";
import { currentCompatRun } from "../current.ts";
import { FLAG_SHIELDED_SCOPES } from "../flags.ts";
import { startDurableTimer, startSleep } from "./durable_timers.ts";
import type { TimerOptions } from "./options.ts";
import { CancellationScope } from "./scope.ts";

const TIMER_OPTIONS: OptionNames<TimerOptions> = { summary: 1, eventGroups: 1 };

/** Resolves after a durable time, at least one millisecond. Rejects when the scope is canceled. */
export function sleep(ms: Duration, options?: TimerOptions): Promise<void> {
  const run = currentCompatRun("Workflow.sleep(...) may only be used from a Workflow Execution");
  rejectMisspelledOptions("sleep", options, TIMER_OPTIONS);
  return startSleep(run, () => Math.max(1, msToNumber(ms)), options).done;
}

// deno-lint-ignore no-explicit-any
type Callback = (...args: any[]) => unknown;

/**
 * The global function: returns a handle for clearTimeout. The callback runs in the calling scope.
 * Without a time, as in the official SDK, no timer starts, but a number is used.
 */
export function setTimeout(callback: Callback, ms?: number, ...args: unknown[]): number {
  const run = currentCompatRun("setTimeout may only be used from workflow code");
  const durationMs = Math.max(1, ms!);
  const frame = run.context.current();
  const call = () => run.context.run(frame, () => void callback(...args));
  if (!run.hasFlag(FLAG_SHIELDED_SCOPES)) {
    const seq = run.nextTimerSeq++;
    new Promise<void>((resolve, reject) => {
      startDurableTimer(run, seq, durationMs);
      run.timers.set(seq, run.waitsAt("setTimeout", { resolve, reject }));
    }).then(call, () => {});
    return seq;
  }
  const scope = new CancellationScope({ cancellable: true });
  let handle = 0;
  const timer = scope.run(() => {
    const { seq, done } = startSleep(run, () => durationMs);
    handle = seq;
    return done;
  });
  const forget = () => run.timeoutScopes.delete(handle);
  timer.then(() => {
    forget();
    call();
  }, forget);
  run.timeoutScopes.set(handle, scope);
  return handle;
}

/**
 * The global function. A handle that is no longer open uses a timer number, as in the official SDK;
 * an unknown one is ignored.
 */
export function clearTimeout(handle: number | undefined): void {
  const run = currentCompatRun("clearTimeout may only be used from workflow code");
  const scope = handle === undefined ? undefined : run.timeoutScopes.get(handle);
  if (scope !== undefined) {
    run.timeoutScopes.delete(handle!);
    return scope.cancel();
  }
  if (handle === undefined || !(handle > 0 && handle < run.nextTimerSeq)) return;
  run.nextTimerSeq++;
  // Open, and without a scope: cleared twice, or in a history from before the flag.
  if (run.timers.delete(handle)) run.cancelCommand(CommandKind.COMMAND_KIND_START_TIMER, handle);
}
