// Shared by the history commands: reads a history, creates a realm with the user's code, writes new
// files.
import { existsSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { HistoryFileError, readHistoryFile } from "../../../history_files/history_file.ts";
import { createWorkerRealm, type WorkerRealm } from "../../../realm/mod.ts";
import { CommandError, UsageError } from "../../frame/errors.ts";
import type { Io } from "../../io.ts";
import { configuredWorkflows } from "../../modules/workflow_modules.ts";

/** Returns the bytes of a history file. Throws a CommandError for an invalid one. */
export async function readHistoryAt(io: Io, path: string): Promise<Uint8Array> {
  try {
    return (await readHistoryFile(await io.read(resolve(io.cwd, path)))).bytes;
  } catch (error) {
    if (error instanceof HistoryFileError) throw new CommandError(`${path}: ${error.message}`);
    throw new CommandError(`${path} cannot be read: ${(error as Error).message}`);
  }
}

interface Modules {
  readonly workflows: readonly string[];
  readonly interceptors: readonly string[];
}

/** Returns the modules of the options, or of package.json. */
export const modulesOf = (io: Io, { workflows }: Modules): readonly string[] =>
  workflows.length > 0
    ? workflows.map((module) => resolve(io.cwd, module))
    : configuredWorkflows(io.cwd);

/** Calls `body` with a realm for the modules. */
export async function withRealm<T>(
  io: Io,
  options: Modules,
  body: (realm: WorkerRealm) => Promise<T>,
): Promise<T> {
  const interceptors = options.interceptors.map((module) => resolve(io.cwd, module));
  const realm = await createWorkerRealm({ workflows: modulesOf(io, options), interceptors });
  try {
    return await body(realm);
  } finally {
    await realm.dispose();
  }
}

/** Same as `withRealm`, with a second realm for repaired code if it is given. */
export function withRealms<T>(
  io: Io,
  options: Modules & { readonly repaired: string | undefined },
  body: (realm: WorkerRealm, repaired: { repaired?: WorkerRealm }) => Promise<T>,
): Promise<T> {
  const { repaired } = options;
  return withRealm(
    io,
    options,
    (realm) =>
      repaired === undefined
        ? body(realm, {})
        : withRealm(io, { ...options, workflows: [repaired] }, (sound) =>
          body(realm, { repaired: sound })),
  );
}

/** Returns the absolute path of a file that must not exist. Throws a UsageError. */
export function newFile(io: Io, path: string): string {
  const full = resolve(io.cwd, path);
  if (existsSync(full)) throw new UsageError(`${path} exists: name another file, or remove it`);
  return full;
}

/** Writes a file; fails if it exists meanwhile. */
export const write = (path: string, text: string): void =>
  writeFileSync(path, text, { flag: "wx" });
