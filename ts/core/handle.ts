// Ownership of a handle into the module: every call passes through `guard`, which turns the core's errors into typed ones, and
// poisons the handle after a panic or trap so that nothing touches half-changed state. A poisoned or disposed handle refuses calls.
import { CoreError as CoreErrorData } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CorePanicError, toCoreError } from "./errors.ts";

interface RawHandle {
  free(): void;
  take_error(): Uint8Array | undefined;
  /** Takes the object from the finalizer that would free it; answers where it lies. */
  __destroy_into_raw?(): number;
}

/** What the glue of each half has for its handles. */
export interface Glue {
  take_panic(): string | undefined;
}

/** Traps of one half in this thread, over all its instances. */
export interface Traps {
  /** What the first one said. */
  said: string | undefined;
  /** A call into the module is under way, or was left without its end being seen: the stack had no room even for that. */
  inside: boolean;
}

export const newTraps = (): Traps => ({ said: undefined, inside: false });

/** What the first trap or panic said. */
export function trapOf({ said, inside }: Traps): string | undefined {
  return said ?? (inside ? "the stack ran out inside the core" : undefined);
}

/** One instance of a half's module, with memory of its own. */
export interface CoreInstance<G extends Glue> {
  readonly glue: G;
  readonly memory: WebAssembly.Memory;
  /** A call trapped: its stack was left where it was, and what lay on it half changed. New handles are made in another instance. */
  broken: boolean;
  /** A call is under way, or was left without its end being seen. */
  calling: boolean;
  readonly traps: Traps;
}

let live = 0;

/** Handles that were made and not disposed: leak tests count these instead of memory. */
export function liveHandles(): number {
  return live;
}

function panicWords({ glue }: CoreInstance<Glue>): string | undefined {
  try {
    return glue.take_panic();
  } catch {
    // The stack that ran out has no room for the question.
    return undefined;
  }
}

/** A panic aborts: a trap, whose words `take_panic` has. An exhausted stack is a RangeError. Undefined for every other error. */
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

  /** The core panicked or trapped inside this handle; it can only be disposed. */
  get poisoned(): boolean {
    return this.#state === "poisoned" || this.#state === "calling";
  }

  protected guard<T>(call: (raw: R) => T): T {
    const raw = this.#raw;
    if (raw === undefined || this.#state !== "open") {
      throw new Error(`this handle of the core is ${this.#state === "calling" ? "poisoned" : this.#state}`);
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

  /** Frees the memory in the module, once. A poisoned handle is not freed, by the garbage collector neither: its destructor could run on broken state. */
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
