// Abort signal of an activity for calls of its client. The official NativeConnection does not
// cancel calls, so that cleanup after a cancellation can use the client; connections of other
// classes cancel them.
import type { Client } from "../client/mod.ts";
import { NativeConnection } from "./connection.ts";

/**
 * Calls `run` with the signal in the client's call context, unless its connection is one of
 * workers.
 */
export function runWithAbortSignal<R>(
  client: Client,
  signal: AbortSignal,
  run: () => Promise<R>,
): Promise<R> {
  return client.connection instanceof NativeConnection
    ? run()
    : client.withAbortSignal(signal, run);
}
