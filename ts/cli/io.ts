// What commands use of the process; tests provide their own.
import { concat } from "../messages/wire.ts";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { Interrupted } from "./frame/errors.ts";

export interface Io {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** Standard output is a terminal: the default format is text. */
  readonly terminal: boolean;
  /** Standard error is a terminal: progress can be shown. */
  readonly errTerminal: boolean;
  /** Defaults for colors on standard output and standard error. */
  readonly colors: boolean;
  readonly errColors: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  out(text: string): void;
  err(text: string): void;
  read(path: string): Promise<Uint8Array>;
  /** Reads all of standard input. */
  stdin(): Promise<Uint8Array>;
  /** Aborted by the first Ctrl-C or SIGTERM, with an `Interrupted` as its reason. */
  readonly interrupt: AbortSignal;
}

/**
 * Returns the I/O of the process. Handles Ctrl-C: the first aborts `interrupt`, the second ends the
 * process.
 */
export function processIo(): Io {
  const terminal = process.stdout.isTTY === true;
  const errTerminal = process.stderr.isTTY === true;
  const { NO_COLOR, TERM } = process.env;
  const colors = !NO_COLOR && TERM !== "dumb";
  return {
    cwd: process.cwd(),
    env: process.env,
    terminal,
    errTerminal,
    colors: terminal && colors,
    errColors: errTerminal && colors,
    width: process.stdout.columns || process.stderr.columns || 100,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    read: async (path) => new Uint8Array(await readFile(path)),
    stdin: readStdin,
    interrupt: interruptSignal(),
  };
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of process.stdin) {
    chunks.push(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
  }
  return concat(chunks);
}

function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    try {
      process.on(name, () => {
        if (controller.signal.aborted) process.exit(name === "SIGINT" ? 130 : 143);
        controller.abort(new Interrupted(name));
      });
    } catch {
      // A runtime on Windows may not support the signal, which then ends the process by default.
    }
  }
  return controller.signal;
}
