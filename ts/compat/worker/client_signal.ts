// The abort signal of an activity for calls of its client. The official NativeConnection does not cancel calls, so
// that code which cleans up after a cancellation can still use the client; connections of other classes cancel them.
import type { Client } from "../client/mod.ts";
import { NativeConnection } from "./connection.ts";

/** Calls `run` with the signal in the call context of the client's connection, unless that is a connection of workers. */
export function withSignalOf<R>(client: Client, signal: AbortSignal, run: () => Promise<R>): Promise<R> {
  return client.connection instanceof NativeConnection ? run() : client.withAbortSignal(signal, run);
}
