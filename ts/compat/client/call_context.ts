// What `withDeadline`, `withMetadata`, `withAbortSignal` and `withApiKey` say of the calls within them.
import { type AsyncContext, asyncContext } from "../../platform/async_context.ts";

/** Values of a name. */
export type MetadataValue = string | Uint8Array;
/** Values by name. */
export type Metadata = Record<string, MetadataValue>;

/** What is said of calls. */
export interface CallContext {
  /** When they end: milliseconds since the Unix epoch, or a moment. */
  deadline?: number | Date;
  /** Sent with them. */
  metadata?: Metadata;
  /** Gives them up. */
  abortSignal?: AbortSignal;
}

let contexts: AsyncContext<CallContext> | undefined;
const storage = () => contexts ??= asyncContext<CallContext>("compat.client.calls");

/** What is said of calls here. */
export function currentCallContext(): CallContext {
  return storage()?.get() ?? {};
}

/** Runs a function in which calls have this, too. */
export function withCallContext<R>(more: CallContext, fn: () => Promise<R>): Promise<R> {
  const now = currentCallContext();
  const context = { ...now, ...more, metadata: { ...now.metadata, ...more.metadata } };
  const contexts = storage();
  if (contexts === undefined) {
    throw new Error("this runtime has no AsyncLocalStorage, which withDeadline, withMetadata and withAbortSignal need");
  }
  return contexts.run(context, fn);
}

/** Deadline and signal as the product's calls take them. */
export function callSettings(): { timeout?: number; signal?: AbortSignal } {
  const { deadline, abortSignal } = currentCallContext();
  return {
    ...(deadline !== undefined && { timeout: Math.max(0, Number(deadline) - Date.now()) }),
    ...(abortSignal !== undefined && { signal: abortSignal }),
  };
}
