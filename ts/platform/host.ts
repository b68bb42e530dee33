// Small facts about the process: who we are to the service, and whether a terminal shows our log.
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

/** True where standard error is a terminal and the user did not forbid colours (NO_COLOR). */
export function terminalTakesColours(): boolean {
  try {
    if (host.Deno !== undefined) return !host.Deno.noColor && host.Deno.stderr.isTerminal();
    return host.process?.stderr?.isTTY === true && !host.process.env?.["NO_COLOR"];
  } catch {
    return false;
  }
}

/** The default logger: lines on standard error from `minimum` on, with colours on a terminal only. */
export function consoleLogger(minimum: LogLevel = "info"): Logger {
  return lineLogger({ minimum, colours: terminalTakesColours(), write: (line) => console.error(line) });
}

/** A random id (UUID version 4). Unlike crypto.randomUUID it is there on pages that were not loaded over https. */
export function randomId(): string {
  return uuidOf(crypto.getRandomValues(new Uint8Array(16)));
}

const instance = randomId().slice(0, 8);

/** How this process names itself in histories: its process id and a random part, `1234@a1b2c3d4`. Says nothing about the machine. */
export function processIdentity(): string {
  return `${host.Deno?.pid ?? host.process?.pid ?? "browser"}@${instance}`;
}

/** How many threads the machine runs at once; 2 where nobody says. */
export function hardwareThreads(): number {
  const { navigator, process } = globalThis as {
    navigator?: { hardwareConcurrency?: number };
    process?: { getBuiltinModule?(name: "node:os"): { availableParallelism(): number } | undefined };
  };
  return navigator?.hardwareConcurrency ?? process?.getBuiltinModule?.("node:os")?.availableParallelism() ?? 2;
}
