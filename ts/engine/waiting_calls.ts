// Calls that run when the next batch is closed, and whose responses leave after its commit: those of
// schedules and of batch operations.
import type { CoreEngine } from "../core/engine.ts";
import { Code, ServiceError } from "../service/raw.ts";
import { coreReplaced } from "./refusals.ts";
import { StoreError } from "./store_errors.ts";

interface WaitingCall {
  readonly run: () => Uint8Array;
  readonly resolve: (response: Uint8Array) => void;
  readonly reject: (error: Error) => void;
  response?: Uint8Array;
}

export class WaitingCalls {
  readonly #host: { readonly engine: CoreEngine };
  #waiting: WaitingCall[] = [];
  #ran: WaitingCall[] = [];

  /** `host` has the current core. */
  constructor(host: { readonly engine: CoreEngine }) {
    this.#host = host;
  }

  /** Whether calls wait for the next batch. */
  get areWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether the open batch has responses. */
  get haveRun(): boolean {
    return this.#ran.length > 0;
  }

  /** Adds a call to the next batch. Resolves after the commit. */
  add(run: () => Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ run, resolve, reject });
    });
  }

  /** Runs all waiting calls. Throws the error of the store or the core; others reject one call. */
  run(): void {
    for (let one = this.#waiting.shift(); one !== undefined; one = this.#waiting.shift()) {
      this.#run(one);
    }
  }

  #run(one: WaitingCall): void {
    try {
      one.response = one.run();
      this.#ran.push(one);
    } catch (error) {
      if (error instanceof StoreError) {
        this.#waiting.unshift(one);
        throw error;
      }
      const cause = error as Error;
      if (this.#host.engine.poisoned) {
        one.reject(coreReplaced(cause));
        throw error;
      }
      one.reject(
        error instanceof ServiceError
          ? error
          : new ServiceError(Code.INTERNAL, cause.message, cause.name, {}, { cause }),
      );
    }
  }

  /** Takes the responses of a committed batch. The returned function sends them. */
  committed(): () => void {
    const ran = this.#ran;
    this.#ran = [];
    return () => {
      for (const { resolve, response } of ran) resolve(response!);
    };
  }

  /** The batch is lost. `all`: with the waiting calls. */
  lost(error: Error, all: boolean): void {
    const lost = all ? [...this.#ran, ...this.#waiting] : this.#ran;
    this.#ran = [];
    if (all) this.#waiting = [];
    for (const { reject } of lost) reject(error);
  }
}
