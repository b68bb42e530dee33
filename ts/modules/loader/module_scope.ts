// What compiled modules are called with.
import type { ReadExport } from "./module_view.ts";

/** First argument of a module's function. */
export class ModuleScope {
  readonly exports: (read: ReadExport) => void;
  /** `import()`. */
  readonly dynamicImport: (specifier: unknown) => Promise<unknown>;
  readonly #require: () => (specifier: string) => unknown;
  #meta: object | undefined;

  constructor(
    exports: (read: ReadExport) => void,
    require: () => (specifier: string) => unknown,
    dynamicImport: (specifier: unknown) => Promise<unknown>,
  ) {
    this.exports = exports;
    this.dynamicImport = dynamicImport;
    this.#require = require;
  }

  require(specifier: string): unknown {
    return this.#require()(specifier);
  }

  get meta(): object {
    return this.#meta ??= Object.freeze(Object.create(null)) as object;
  }
}

/** A generator: declares its exports, stops, and runs its body when continued. */
export type EsmFunction = (
  scope: ModuleScope,
  ...imports: unknown[]
) => Generator<void, void, void>;
export type CjsFunction = (
  exports: object,
  require: (specifier: string) => unknown,
  module: { exports: unknown },
  ...more: unknown[]
) => void;
