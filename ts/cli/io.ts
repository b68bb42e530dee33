// What commands need of the process, so that tests can give their own.
import { concat } from "../api/wire.ts";
import { readFile } from "node:fs/promises";
import process from "node:process";
import { Interrupted } from "./frame/errors.ts";

export interface Io {
  readonly cwd: string;
  readonly env: { readonly [name: string]: string | undefined };
  /** Standard output is a terminal: then output is for people, elsewhere for programs. */
  readonly terminal: boolean;
  /** Standard error is a terminal: progress may be shown there. */
  readonly errTerminal: boolean;
  /** Whether standard output, and standard error, take colours where nothing else is said. */
  readonly colours: boolean;
  readonly errColours: boolean;
  /** Columns of the terminal. */
  readonly width: number;
  out(text: string): void;
  err(text: string): void;
  read(path: string): Promise<Uint8Array>;
  /** All of standard input. */
  stdin(): Promise<Uint8Array>;
  /** Aborted, with an `Interrupted` as its reason, by the first Ctrl-C or SIGTERM. */
  readonly interrupt: AbortSignal;
}

/** The process itself. From now on Ctrl-C is ours: the first aborts `interrupt`, the second ends the process at once. */
export function processIo(): Io {
  const terminal = process.stdout.isTTY === true;
  const errTerminal = process.stderr.isTTY === true;
  const { NO_COLOR, TERM } = process.env;
  const colours = !NO_COLOR && TERM !== "dumb";
  return {
    cwd: process.cwd(),
    env: process.env,
    terminal,
    errTerminal,
    colours: terminal && colours,
    errColours: errTerminal && colours,
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
  for await (const chunk of process.stdin) chunks.push(typeof chunk === "string" ? new TextEncoder().encode(chunk) : chunk);
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
      // A runtime on Windows may not know the signal; then it ends the process as ever.
    }
  }
  return controller.signal;
}
