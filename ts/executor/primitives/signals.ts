// waitForSignal: the oldest waiter for a name takes the oldest buffered signal of that name, before
// any receive (docs/dev/semantics/messages.md#the-oldest-message-that-something-takes-moves).
// Signal arms of select are waiters too.
import type { MessageShape } from "../program/definition.ts";
import type { SignalItem } from "../scheduler/inbox.ts";
import { decodeArgs, InvalidArguments } from "./arguments.ts";
import { Awaiter, type Fiber } from "../scheduler/fiber.ts";
import type { SignalWaiter } from "../scheduler/job_targets.ts";
import type { RunState } from "../scheduler/run_state.ts";

export function registerWaiter(run: RunState, waiter: SignalWaiter): void {
  const queue = run.waiters.get(waiter.message.name);
  if (queue === undefined) run.waiters.set(waiter.message.name, [waiter]);
  else queue.push(waiter);
}

export function unregisterWaiter(run: RunState, waiter: SignalWaiter): void {
  const { name } = waiter.message;
  const queue = run.waiters.get(name);
  if (queue === undefined) return;
  const left = queue.filter((other) => other !== waiter);
  if (left.length === 0) run.waiters.delete(name);
  else run.waiters.set(name, left);
}

/** Delivers buffered signals to waiters for that name that are older than this one. */
export function deliverToEarlierWaiters(run: RunState, waiter: SignalWaiter): void {
  const { name } = waiter.message;
  for (
    let oldest = run.waiters.get(name)![0]!;
    oldest !== waiter;
    oldest = run.waiters.get(name)![0]!
  ) {
    const signal = run.inbox.takeSignal(name);
    if (signal === undefined) return;
    oldest.deliver(signal);
  }
}

/**
 * The arguments of a signal; undefined if the schema rejects them: the signal is logged and
 * dropped.
 */
export function signalArgs(
  run: RunState,
  message: MessageShape,
  signal: SignalItem,
): unknown[] | undefined {
  try {
    return decodeArgs(run, message, signal.input);
  } catch (e) {
    if (!(e instanceof InvalidArguments)) throw e;
    // The validator's message may quote the arguments, so it is a field.
    run.log.error(
      `signal "${signal.name}" was dropped: the arguments of signal "${signal.name}" are not valid`,
      {
        issues: e.issues,
      },
    );
    return undefined;
  }
}

export class SignalAwaiter extends Awaiter<unknown> implements SignalWaiter {
  readonly waitsFor = "signal";
  readonly external = true;
  readonly message: MessageShape;

  constructor(fiber: Fiber, message: MessageShape) {
    super(fiber);
    this.message = message;
    registerWaiter(fiber.run, this);
  }

  describe(): string {
    return `waitForSignal "${this.message.name}"`;
  }

  deliver(signal: SignalItem): void {
    const { run } = this.fiber;
    const args = signalArgs(run, this.message, signal);
    if (args === undefined) return;
    unregisterWaiter(run, this);
    this.fulfil(args.length === 0 ? undefined : args.length === 1 ? args[0] : args);
  }

  cancel(reason: unknown): void {
    unregisterWaiter(this.fiber.run, this);
    this.fail(reason);
  }
}
