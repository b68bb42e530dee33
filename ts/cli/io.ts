// What commands need of the process, so that tests can give their own.
import { readFile } from "node:fs/promises";
import process from "node:process";

export interface Io {
  readonly cwd: string;
  /** Standard output is a terminal: then output is for people, elsewhere for programs. */
  readonly terminal: boolean;
  readonly colours: boolean;
  out(text: string): void;
  err(text: string): void;
  read(path: string): Promise<Uint8Array>;
}

/** The command was called wrongly: the message is shown, and the exit code is 2. */
export class UsageError extends Error {
  override name = "UsageError";
}

export function processIo(): Io {
  const terminal = process.stdout.isTTY === true;
  return {
    cwd: process.cwd(),
    terminal,
    colours: terminal && !process.env["NO_COLOR"],
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    read: async (path) => new Uint8Array(await readFile(path)),
  };
}
