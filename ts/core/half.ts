// One half of the core in this thread: instantiated once, and again after a trap, when existing
// handles keep the old instance. Each half has a separate memory; a trap does not affect the other
// half.
import { CoreInfo } from "./generated/boundary/temporalex/boundary/v1/boundary.ts";
import { CoreLoadError } from "./errors.ts";
import { type CoreInstance, type Glue, newTraps, trapOf, type Traps } from "./handle.ts";
import { checkHalf, type CoreHalf, coreModule } from "./source.ts";

/** Functions of wasm-bindgen's glue for an instance. */
interface InstanceGlue extends Glue {
  core_info(): Uint8Array;
  initSync(of: { module: WebAssembly.Module }): { readonly memory: WebAssembly.Memory };
  init(
    of: { module_or_path: WebAssembly.Module },
  ): Promise<{ readonly memory: WebAssembly.Memory }>;
}

const all = new Set<{ readonly memoryBytes: number }>();

/** Bytes of memory used by the halves in this thread; 0 if none is loaded. Never decreases. */
export function memoryBytes(): number {
  return [...all].reduce((sum, half) => sum + half.memoryBytes, 0);
}

export class LoadedHalf<G extends InstanceGlue> {
  readonly #half: CoreHalf;
  readonly #createGlue: () => G;
  readonly #sourceHash: string;
  readonly #module: () => Promise<WebAssembly.Module>;
  readonly #traps: Traps = newTraps();
  #loading: Promise<void> | undefined;
  #loaded: { readonly module: WebAssembly.Module; instance: CoreInstance<G> } | undefined;

  /** `sourceHash`: of the sources of this half's glue; a module from other sources is rejected. */
  constructor(
    half: CoreHalf,
    createGlue: () => G,
    sourceHash: string,
    module = () => coreModule(half),
  ) {
    this.#half = half;
    this.#module = module;
    this.#createGlue = createGlue;
    this.#sourceHash = sourceHash;
  }

  get memoryBytes(): number {
    return this.#loaded?.instance.memory.buffer.byteLength ?? 0;
  }

  /** Message of the first trap or panic of this half in this thread; undefined if it is sound. */
  get trap(): string | undefined {
    return trapOf(this.#traps);
  }

  info(): CoreInfo {
    return CoreInfo.decode(this.#loaded!.instance.glue.core_info());
  }

  /**
   * Loads the half once, from `useCore` or the package. Rejects with a CoreLoadError; a later call
   * retries.
   */
  load(): Promise<void> {
    if (this.#loading !== undefined) return this.#loading;
    const attempt = this.#loading = this.#module().then((module) => this.#instantiate(module));
    attempt.catch(() => (this.#loading = undefined));
    return attempt;
  }

  /** Loads a compiled module synchronously (realms receive theirs by message). */
  loadSync(source: WebAssembly.Module | Uint8Array<ArrayBuffer>): void {
    if (this.#loaded !== undefined) return;
    const module = source instanceof WebAssembly.Module ? source : new WebAssembly.Module(source);
    checkHalf(this.#half, module);
    this.#begin(module, this.#instanceOf(module));
    this.#loading = Promise.resolve();
  }

  /** The instance for new handles; a new one after a trap. */
  sound(): CoreInstance<G> {
    const { module, instance } = this.#loaded!;
    if (!instance.broken && !instance.calling) return instance;
    try {
      return this.#loaded!.instance = this.#instanceOf(module);
    } catch {
      // No memory for another instance, or a realm whose guard forbids it and which is being
      // replaced.
      return instance;
    }
  }

  async #instantiate(module: WebAssembly.Module): Promise<void> {
    if (this.#loaded !== undefined) return;
    checkHalf(this.#half, module);
    let instance: CoreInstance<G>;
    try {
      instance = await this.#firstInstance(module);
    } catch (e) {
      throw new CoreLoadError(
        `this is not the ${this.#half}.wasm that belongs to this version of the package: ${
          (e as Error).message
        }`,
        e,
      );
    }
    if (this.#loaded === undefined) this.#begin(module, instance);
  }

  #begin(module: WebAssembly.Module, instance: CoreInstance<G>): void {
    const { sourceHash: found } = CoreInfo.decode(instance.glue.core_info());
    if (found !== this.#sourceHash) {
      throw new CoreLoadError(
        `this ${this.#half}.wasm belongs to another version of the package (it was built from ${
          found.slice(0, 12)
        } instead of ${
          this.#sourceHash.slice(0, 12)
        }): worker.wasm, engine.wasm, the page and the entries of its workers must be of one version`,
      );
    }
    this.#loaded = { module, instance };
    all.add(this);
  }

  #instanceOf(module: WebAssembly.Module): CoreInstance<G> {
    const glue = this.#createGlue();
    return {
      glue,
      memory: glue.initSync({ module }).memory,
      broken: false,
      calling: false,
      traps: this.#traps,
    };
  }

  /**
   * Tries synchronously, which saves a turn and loading fetch in Node; asynchronously where a
   * browser needs it.
   */
  async #firstInstance(module: WebAssembly.Module): Promise<CoreInstance<G>> {
    try {
      return this.#instanceOf(module);
    } catch (e) {
      if (!(e instanceof RangeError)) throw e;
    }
    const glue = this.#createGlue();
    const { memory } = await glue.init({ module_or_path: module });
    return { glue, memory, broken: false, calling: false, traps: this.#traps };
  }
}
