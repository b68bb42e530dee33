// Process functions for workers of `@temporalio/worker`, in Node and Deno: signals and the host
// name.
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

/** Writes to standard error. */
export function standardError(text: string): void {
  nodeProcess().stderr.write(text);
}

/** Returns `pid@host` like the official worker; without a host name if Deno has no --allow-sys. */
export function defaultIdentity(): string {
  let host = "unknown";
  try {
    host = builtin<{ hostname(): string }>("node:os")?.hostname() ?? host;
  } catch {
    // Deno would prompt for a permission, which the identity is not worth.
  }
  return `${nodeProcess().pid}@${host}`;
}

/**
 * Calls `listener` for each of the signals. Returns a function that stops it. Skips signals that
 * the system lacks.
 */
export function onSignals(signals: readonly string[], listener: () => void): () => void {
  const heard: string[] = [];
  for (const signal of signals) {
    try {
      nodeProcess().on(signal, listener);
      heard.push(signal);
    } catch {
      // For example SIGUSR2 on Windows.
    }
  }
  return () => {
    for (const signal of heard) nodeProcess().off(signal, listener);
  };
}
