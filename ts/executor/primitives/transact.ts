// transact: a reducer that the engine runs in the transaction that commits this workflow task
// (docs/dev/semantics/database.md#transact). Its result comes with the next task. The core is
// notified when code awaits the call: an error of a call that is not awaited fails the task and
// keeps nothing. An error of a required call ends the run.
import {
  AwaitTransact,
  CommandKind,
  type ResolveTransact,
  Transact,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import { decodeFailure } from "../../converter/failure_converter.ts";
import { encodeWith, wireAll } from "../program/encode.ts";
import { MisuseError } from "../program/errors.ts";
import { Awaiter, type Fiber, type Leftover } from "../scheduler/fiber.ts";
import type { TransactTarget } from "../scheduler/job_targets.ts";

export class TransactAwaiter extends Awaiter<unknown> implements TransactTarget {
  readonly external = true;
  readonly waitsFor = "transact";
  readonly #reducer: string;
  readonly #seq: number;
  readonly #required: boolean;
  #awaited = false;

  constructor(fiber: Fiber, reducer: string, args: readonly unknown[], required: boolean) {
    const { run } = fiber;
    if (!run.isReplaying && run.context.onlyReplays !== true && run.context.runsReducers !== true) {
      run.misuse(
        new MisuseError(
          `transact("${reducer}") needs the embedded engine with reducers, in the process of this worker ` +
            `(open({ path, reducers }), in a browser serveEngine({ reducers })); on a cluster use an activity`,
        ),
      );
    }
    // Before the awaiter exists, so that arguments that cannot be encoded throw without side
    // effects.
    const attributes = encodeWith(Transact, {
      reducer,
      arguments: wireAll(run.converter, args),
      required,
      seq: 0,
    });
    super(fiber);
    this.#reducer = reducer;
    this.#required = required;
    this.#seq = run.issue(CommandKind.COMMAND_KIND_TRANSACT, attributes);
    run.transacts.set(this.#seq, this);
  }

  /** The command commits with its task, also if the scope has ended. */
  override get leftover(): Leftover {
    return "expected";
  }

  override get seq(): number {
    return this.#seq;
  }

  describe(): string {
    return `transact "${this.#reducer}"`;
  }

  /** Workflow code awaits the call. No-op after its result. */
  awaited(): void {
    if (this.#awaited || !this.isPending) return;
    this.#awaited = true;
    const { run } = this.fiber;
    if (run.end === undefined) {
      run.issue(
        CommandKind.COMMAND_KIND_AWAIT_TRANSACT,
        encodeWith(AwaitTransact, { seq: this.#seq }),
      );
    }
  }

  resolved({ result }: ResolveTransact): void {
    const { run } = this.fiber;
    const { converter } = run;
    switch (result?.$case) {
      case "completed": {
        const payload = result.value.result;
        return this.fulfil(payload === undefined ? undefined : converter.fromPayload(payload));
      }
      case "failed": {
        const failure = decodeFailure(result.value, converter);
        return this.#required ? run.endWith(failure) : this.fail(failure);
      }
      case undefined:
        throw new Error(`the core resolved transact ${this.#seq} with nothing`);
    }
  }

  cancel(reason: unknown): void {
    this.fail(reason);
  }

  override abandon(reason: unknown): void {
    this.fail(reason);
  }
}
