// waitForSignal: the oldest waiter of a name takes the oldest buffered signal of that name, before any receive may (core-spec 3.4 #7).
import type { MessageShape } from "./definition.ts";
import type { SignalItem } from "./inbox.ts";
import { decodeArgs, InvalidArguments } from "./arguments.ts";
import { Awaiter, type Strand } from "./strand.ts";

export class SignalAwaiter extends Awaiter<unknown> {
  readonly waitsFor = "signal";
  readonly external = true;
  readonly message: MessageShape;

  constructor(strand: Strand, message: MessageShape) {
    super(strand);
    this.message = message;
    const waiters = strand.run.waiters;
    const queue = waiters.get(message.name);
    if (queue === undefined) waiters.set(message.name, [this]);
    else queue.push(this);
  }

  describe(): string {
    return `waitForSignal "${this.message.name}"`;
  }

  /** Takes a signal. One whose arguments the message's schema refuses is logged, and the wait goes on. */
  deliver(signal: SignalItem): void {
    const { run } = this.strand;
    let args: unknown[];
    try {
      args = decodeArgs(run, this.message, signal.input);
    } catch (e) {
      if (!(e instanceof InvalidArguments)) throw e;
      // What the validator says may quote the arguments, so it is a field.
      run.log.error(`signal "${signal.name}" was dropped: the arguments of signal "${signal.name}" are not valid`, {
        issues: e.issues,
      });
      return;
    }
    this.#unregister();
    this.fulfil(args.length === 0 ? undefined : args.length === 1 ? args[0] : args);
  }

  cancel(reason: unknown): void {
    this.#unregister();
    this.fail(reason);
  }

  #unregister(): void {
    const waiters = this.strand.run.waiters;
    const queue = waiters.get(this.message.name);
    if (queue === undefined) return;
    const left = queue.filter((waiter) => waiter !== this);
    if (left.length === 0) waiters.delete(this.message.name);
    else waiters.set(this.message.name, left);
  }
}
