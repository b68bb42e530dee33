// Node's built-in modules, found at run time: bundlers do not see them, and browsers get undefined.
// Node >= 20.16 and Deno have `process.getBuiltinModule`. The used types are declared here, because
// public types reach this file and must compile without Node's types.

/** The used part of node:fs. */
export interface FileSystem {
  existsSync(path: string): boolean;
  statSync(path: string): Stats;
  lstatSync(path: string): Stats;
  openSync(path: string, flags: string, mode?: number): number;
  fchmodSync(file: number, mode: number): void;
  readSync(
    file: number,
    into: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): number;
  fsyncSync(file: number): void;
  truncateSync(path: string, bytes: number): void;
  closeSync(file: number): void;
  readFileSync(path: string, encoding: "utf8"): string;
  writeFileSync(path: string, text: string): void;
  renameSync(from: string, to: string): void;
  rmSync(path: string, options?: { readonly force?: boolean }): void;
  rmdirSync(path: string): void;
  mkdirSync(path: string, options?: { readonly mode?: number }): unknown;
  readdirSync(path: string): string[];
  realpathSync(path: string): string;
  readlinkSync(path: string): string;
  /** Not in every runtime. */
  statfsSync?(path: string): { readonly bavail: number; readonly bsize: number };
}

interface Stats {
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly dev: number;
  readonly ino: number;
  isFile(): boolean;
  isDirectory(): boolean;
}

export interface Builtins {
  readonly fs: FileSystem;
  readonly module: { createRequire(from: string): (name: string) => unknown };
  readonly os: { hostname(): string };
  readonly path: {
    resolve(...parts: string[]): string;
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

/** Undefined in runtimes without a file system (browsers). */
export function builtins(): Builtins | undefined {
  const process = (globalThis as { process?: ProcessLike }).process;
  const get = (name: string) => process?.getBuiltinModule?.(name);
  const fs = get("node:fs") as FileSystem | undefined;
  if (process === undefined || fs === undefined || typeof fs.openSync !== "function") {
    return undefined;
  }
  return {
    fs,
    module: get("node:module") as Builtins["module"],
    os: get("node:os") as Builtins["os"],
    path: get("node:path") as Builtins["path"],
    process,
    get,
  };
}
