// Node's built-in modules, found at run time: nothing here is visible to a bundler, and a browser gets undefined. Node >= 20.16 and
// Deno both answer `process.getBuiltinModule`. The types are written here as far as they are used: public types reach this file, and who
// compiles against them need not have Node's.

/** What is used of node:fs. */
export interface FileSystem {
  existsSync(path: string): boolean;
  statSync(path: string): Stats;
  openSync(path: string, flags: string): number;
  readSync(file: number, into: Uint8Array, offset: number, length: number, position: number): number;
  fsyncSync(file: number): void;
  closeSync(file: number): void;
  readFileSync(path: string, encoding: "utf8"): string;
  writeFileSync(path: string, text: string): void;
  renameSync(from: string, to: string): void;
  rmSync(path: string, options?: { readonly recursive?: boolean; readonly force?: boolean }): void;
  mkdirSync(path: string): unknown;
  realpathSync(path: string): string;
  readlinkSync(path: string): string;
}

interface Stats {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly dev: number;
  readonly ino: number;
  isFile(): boolean;
}

export interface Builtins {
  readonly fs: FileSystem;
  readonly module: { createRequire(from: string): (name: string) => unknown };
  readonly os: { hostname(): string };
  readonly path: {
    resolve(path: string): string;
    dirname(path: string): string;
    basename(path: string): string;
    join(...parts: string[]): string;
  };
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
  const fs = get("node:fs") as FileSystem | undefined;
  if (process === undefined || fs === undefined || typeof fs.openSync !== "function") return undefined;
  return {
    fs,
    module: get("node:module") as Builtins["module"],
    os: get("node:os") as Builtins["os"],
    path: get("node:path") as Builtins["path"],
    process,
    get,
  };
}
