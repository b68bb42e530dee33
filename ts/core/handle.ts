// Ownership of a handle into the module: every call passes through `guard`, which turns the core's errors into typed ones, and
// poisons the handle after a panic or trap so that nothing touches half-changed state. A poisoned or disposed handle refuses calls.
import { CoreError as CoreErrorData } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CorePanicError, toCoreError } from "./errors.ts";
import { take_panic } from "./generated/core.js";

interface RawHandle {
  free(): void;
  take_error(): Uint8Array | undefined;
}

let live = 0;

/** Handles that were made and not disposed: leak tests count these instead of memory. */
export function liveHandles(): number {
  return live;
}

let trap: string | undefined;
/** A call into the module is under way, or was left without its end being seen: the stack had no room even for that. */
let inside = false;

/** What the first trap or panic of this realm's instance said. After one its memory is in doubt: realms replace themselves. */
export function coreTrap(): string | undefined {
  return trap ?? (inside ? "the stack ran out inside the core" : undefined);
}

function panicWords(): string | undefined {
  try {
    return take_panic();
  } catch {
    // The stack that ran out has no room for the question.
    return undefined;
  }
}

export abstract class CoreHandle<R extends RawHandle> {
  #raw: R | undefined;
  #state: "open" | "calling" | "poisoned" | "disposed" = "open";

  constructor(raw: R) {
    this.#raw = raw;
    live++;
  }

  /** The core panicked or trapped inside this handle; it can only be disposed. */
  get poisoned(): boolean {
    return this.#state === "poisoned" || this.#state === "calling";
  }

  protected guard<T>(call: (raw: R) => T): T {
    const raw = this.#raw;
    if (raw === undefined || this.#state !== "open") {
      throw new Error(`this handle of the core is ${this.#state === "calling" ? "poisoned" : this.#state}`);
    }
    this.#state = "calling";
    inside = true;
    try {
      const result = call(raw);
      this.#state = "open";
      inside = false;
      return result;
    } catch (e) {
      // A panic aborts: a trap, whose words `take_panic` has. An exhausted stack is a RangeError. Everything else is an error that the
      // core reported as data.
      const { name, message } = (e ?? {}) as Error;
      if (name === "RuntimeError" || name === "RangeError") {
        this.#state = "poisoned";
        const words = panicWords() ?? message;
        trap ??= words;
        inside = false;
        throw new CorePanicError(words, { cause: e });
      }
      const data = raw.take_error();
      this.#state = "open";
      inside = false;
      if (data === undefined) throw e;
      throw toCoreError(CoreErrorData.decode(data));
    }
  }

  /** Frees the memory in the module, once. A poisoned handle is not freed: its destructor could run on broken state. */
  dispose(): void {
    if (this.#raw === undefined) return;
    if (this.#state === "open") this.#raw.free();
    this.#raw = undefined;
    this.#state = "disposed";
    live--;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
