// Facts about the process: its identity for the service, and whether the log goes to a terminal.
import { lineLogger, type Logger, type LogLevel } from "../base/logger.ts";
import { uuidOf } from "./uuid.ts";

interface Host {
  process?: {
    pid?: number;
    stderr?: { isTTY?: boolean };
    env?: { [name: string]: string | undefined };
  };
  Deno?: { pid: number; noColor: boolean; stderr: { isTerminal(): boolean } };
}
const host = globalThis as Host;

/** Returns whether standard error is a terminal and NO_COLOR is not set. */
export function terminalTakesColors(): boolean {
  try {
    if (host.Deno !== undefined) return !host.Deno.noColor && host.Deno.stderr.isTerminal();
    return host.process?.stderr?.isTTY === true && !host.process.env?.["NO_COLOR"];
  } catch {
    return false;
  }
}

/**
 * Returns the default logger: lines on standard error from level `minimum`, with colors on a
 * terminal.
 */
export function consoleLogger(minimum: LogLevel = "info"): Logger {
  return lineLogger({
    minimum,
    colors: terminalTakesColors(),
    write: (line) => console.error(line),
  });
}

/** Returns a random id (UUID version 4). Works without https, unlike crypto.randomUUID. */
export function randomId(): string {
  return uuidOf(crypto.getRandomValues(new Uint8Array(16)));
}

const instance = randomId().slice(0, 8);

/**
 * Returns the identity of this process in histories: process id and a random part, `1234@a1b2c3d4`.
 * Contains nothing about the machine.
 */
export function processIdentity(): string {
  return `${host.Deno?.pid ?? host.process?.pid ?? "browser"}@${instance}`;
}

/** Returns the number of hardware threads; 2 if not known. */
export function hardwareThreads(): number {
  const { navigator, process } = globalThis as {
    navigator?: { hardwareConcurrency?: number };
    process?: {
      getBuiltinModule?(name: "node:os"): { availableParallelism(): number } | undefined;
    };
  };
  return navigator?.hardwareConcurrency ??
    process?.getBuiltinModule?.("node:os")?.availableParallelism() ?? 2;
}
