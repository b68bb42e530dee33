// What workers of `@temporalio/worker` need of the process, in Node and Deno: signals and the host's name.
import { builtin, needBuiltin } from "../../platform/builtin.ts";

interface Process {
  readonly pid: number;
  readonly stderr: { write(text: string): unknown };
  on(event: string, listener: () => void): unknown;
  off(event: string, listener: () => void): unknown;
}

/** The part of `node:util` that is used. */
export interface Inspect {
  inspect(value: unknown, options: { colors: boolean }): string;
}

/** `node:util`. */
export function nodeUtil(): Inspect {
  return needBuiltin<Inspect>("node:util");
}

const nodeProcess = (): Process => needBuiltin<Process>("node:process");

/** Writes on standard error. */
export function standardError(text: string): void {
  nodeProcess().stderr.write(text);
}

/** `pid@host`, as the official worker calls itself; without a host's name where that is not to be known (Deno without --allow-sys). */
export function defaultIdentity(): string {
  let host = "unknown";
  try {
    host = builtin<{ hostname(): string }>("node:os")?.hostname() ?? host;
  } catch {
    // Deno asks for a permission that an identity is not worth.
  }
  return `${nodeProcess().pid}@${host}`;
}

/** Calls `listener` for each of the signals, until what this returns is called. Signals that the system does not have are left out. */
export function onSignals(signals: readonly string[], listener: () => void): () => void {
  const heard: string[] = [];
  for (const signal of signals) {
    try {
      nodeProcess().on(signal, listener);
      heard.push(signal);
    } catch {
      // SIGUSR2 on Windows, for one.
    }
  }
  return () => {
    for (const signal of heard) nodeProcess().off(signal, listener);
  };
}
