#!/usr/bin/env node
// `temporalex`, the program. The commands are in mod.ts, what they have in common in frame/.
import { realpathSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { dispatch } from "./frame/dispatch.ts";
import { type Io, processIo } from "./io.ts";
import { COMMANDS } from "./commands/mod.ts";

/** Runs the command line; returns the exit code. */
export function main(args: readonly string[], io: Io): Promise<number> {
  return dispatch(COMMANDS, args, io);
}

/**
 * Returns whether this file was started, also through npm's link. Node 20 has no
 * `import.meta.main`.
 */
function isProgram(): boolean {
  try {
    return realpathSync(process.argv[1] ?? "") === fileURLToPath(import.meta.url);
  } catch {
    return false;
  }
}

/** Resolves when a stream has flushed all writes. */
function flushed(stream: { write(text: string, done: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

if (isProgram()) {
  // `temporalex workflow list | head`: the reader has closed the pipe.
  process.stdout.on("error", (error: Error & { code?: string }) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  const code = await main(process.argv.slice(2), processIo());
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  // Not only `exitCode`: an abandoned command can leave threads and connections open.
  process.exit(code);
}
