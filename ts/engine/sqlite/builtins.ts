// Node's built-in modules, found at run time: nothing here is visible to a bundler, and a browser gets undefined. Node >= 20.16 and
// Deno both answer `process.getBuiltinModule`.
import type * as Fs from "node:fs";
import type * as Module from "node:module";
import type * as Os from "node:os";
import type * as Path from "node:path";

export interface Builtins {
  readonly fs: typeof Fs;
  readonly module: typeof Module;
  readonly os: typeof Os;
  readonly path: typeof Path;
  readonly process: { readonly pid: number; kill(pid: number, signal: 0): void };
  get(name: string): unknown;
}

interface ProcessLike {
  readonly pid: number;
  kill(pid: number, signal: 0): void;
  getBuiltinModule?(name: string): unknown;
}

/** Undefined where there is no file system (browsers). */
export function builtins(): Builtins | undefined {
  const process = (globalThis as { process?: ProcessLike }).process;
  const get = (name: string) => process?.getBuiltinModule?.(name);
  const fs = get("node:fs") as typeof Fs | undefined;
  if (process === undefined || fs === undefined || typeof fs.openSync !== "function") return undefined;
  return {
    fs,
    module: get("node:module") as typeof Module,
    os: get("node:os") as typeof Os,
    path: get("node:path") as typeof Path,
    process,
    get,
  };
}
