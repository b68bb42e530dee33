// Ownership of a handle into the module. Every call passes through `guard`, which converts the
// core's errors, and poisons the handle after a panic or trap. A poisoned or disposed handle
// rejects calls.
import { CoreError as CoreErrorData } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CorePanicError, toCoreError } from "./errors.ts";

interface RawHandle {
  free(): void;
  take_error(): Uint8Array | undefined;
  /** Removes the object from its finalizer; returns its address. */
  __destroy_into_raw?(): number;
}

/** Functions of each half's glue that handles use. */
export interface Glue {
  take_panic(): string | undefined;
}

/** Traps of one half in this thread, in all its instances. */
export interface Traps {
  /** Message of the first trap. */
  said: string | undefined;
  /** A call is running, or ended unobserved because the stack was exhausted. */
  inside: boolean;
}

export const newTraps = (): Traps => ({ said: undefined, inside: false });

/** Message of the first trap or panic; undefined if none occurred. */
export function trapOf({ said, inside }: Traps): string | undefined {
  return said ?? (inside ? "the stack ran out inside the core" : undefined);
}

/** One instance of a half's module, with its memory. */
export interface CoreInstance<G extends Glue> {
  readonly glue: G;
  readonly memory: WebAssembly.Memory;
  /**
   * A call trapped, which leaves its stack and state inconsistent. New handles use another
   * instance.
   */
  broken: boolean;
  /** A call is running, or ended unobserved. */
  calling: boolean;
  readonly traps: Traps;
}

let live = 0;

/** Number of live handles; leak tests use it instead of memory. */
export function liveHandles(): number {
  return live;
}

function panicWords({ glue }: CoreInstance<Glue>): string | undefined {
  try {
    return glue.take_panic();
  } catch {
    // The exhausted stack has no room for this call.
    return undefined;
  }
}

/**
 * A panic traps; `take_panic` has its message. An exhausted stack is a RangeError. Undefined for
 * others.
 */
function panicOf(e: unknown, instance: CoreInstance<Glue>): CorePanicError | undefined {
  const { name, message } = (e ?? {}) as Error;
  if (name !== "RuntimeError" && name !== "RangeError") return undefined;
  instance.broken = true;
  const words = panicWords(instance) ?? message;
  instance.traps.said ??= words;
  return new CorePanicError(words, { cause: e });
}

export abstract class CoreHandle<R extends RawHandle, G extends Glue> {
  readonly #instance: CoreInstance<G>;
  #raw: R | undefined;
  #state: "open" | "calling" | "poisoned" | "disposed" = "open";

  constructor(instance: CoreInstance<G>, make: (glue: G) => R) {
    this.#instance = instance;
    try {
      this.#raw = make(instance.glue);
    } catch (e) {
      throw panicOf(e, instance) ?? e;
    }
    live++;
  }

  /** The core panicked or trapped in this handle; it can only be disposed. */
  get poisoned(): boolean {
    return this.#state === "poisoned" || this.#state === "calling";
  }

  protected guard<T>(call: (raw: R) => T): T {
    const raw = this.#raw;
    if (raw === undefined || this.#state !== "open") {
      throw new Error(
        `this handle of the core is ${this.#state === "calling" ? "poisoned" : this.#state}`,
      );
    }
    const instance = this.#instance;
    this.#state = "calling";
    instance.traps.inside = instance.calling = true;
    try {
      const result = call(raw);
      this.#state = "open";
      instance.traps.inside = instance.calling = false;
      return result;
    } catch (e) {
      const panic = panicOf(e, instance);
      if (panic !== undefined) {
        this.#state = "poisoned";
        instance.traps.inside = instance.calling = false;
        throw panic;
      }
      // An error that the core reported as data.
      const data = raw.take_error();
      this.#state = "open";
      instance.traps.inside = instance.calling = false;
      if (data === undefined) throw e;
      throw toCoreError(CoreErrorData.decode(data));
    }
  }

  /**
   * Frees the memory once. A poisoned handle is never freed: its destructor could run on broken
   * state.
   */
  dispose(): void {
    if (this.#raw === undefined) return;
    if (this.#state === "open") this.#raw.free();
    else this.#raw.__destroy_into_raw?.();
    this.#raw = undefined;
    this.#state = "disposed";
    live--;
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
