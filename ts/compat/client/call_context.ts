// Context of one connection's calls: `withDeadline`, `withMetadata`, `withAbortSignal`,
// `withApiKey`. Each connection has a separate storage, so that its key or abort signal never
// reaches the calls of another one.
import { type AsyncStorage, asyncStorage } from "../../platform/async_context.ts";

/** Values of a name. */
export type MetadataValue = string | Uint8Array;
/** Values by name. */
export type Metadata = Record<string, MetadataValue>;

/** Settings of the calls within a function. */
export interface CallContext {
  /** End of the calls: milliseconds since the Unix epoch, or a `Date`. */
  deadline?: number | Date;
  /** Sent with the calls. */
  metadata?: Metadata;
  /** Cancels the calls. */
  abortSignal?: AbortSignal;
}

/** Merges metadata; `more` overrides. Header names are case-insensitive. */
export function mergeMetadata(metadata: Metadata = {}, more: Metadata = {}): Metadata {
  const names = new Set(Object.keys(more).map((name) => name.toLowerCase()));
  const kept = Object.entries(metadata).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...more };
}

/** Returns whether the metadata has an `authorization` header, in any spelling. */
export function hasAuthorization(metadata: Metadata = {}): boolean {
  return Object.keys(metadata).some((name) => name.toLowerCase() === "authorization");
}

/** The call contexts of one connection. */
export class CallContexts {
  /** Created with the first context: most connections never have one. */
  #storage: AsyncStorage<CallContext> | undefined;

  /** Returns the context of the running function; empty outside of one. */
  current(): CallContext {
    return this.#storage?.getStore() ?? {};
  }

  /**
   * Calls the function with `more` added to the current context. Throws an Error if the runtime has
   * no AsyncLocalStorage.
   */
  run<R>(more: CallContext, fn: () => Promise<R>): Promise<R> {
    this.#storage ??= asyncStorage<CallContext>();
    if (this.#storage === undefined) {
      throw new Error(
        "this runtime has no AsyncLocalStorage, which withDeadline, withMetadata and withAbortSignal need",
      );
    }
    const now = this.current();
    return this.#storage.run({
      ...now,
      ...more,
      metadata: mergeMetadata(now.metadata, more.metadata),
    }, fn);
  }

  /** Returns the deadline and the abort signal of the current context for native calls. */
  settings(): { timeout?: number; signal?: AbortSignal } {
    const { deadline, abortSignal } = this.current();
    return {
      ...(deadline !== undefined && { timeout: Math.max(0, Number(deadline) - Date.now()) }),
      ...(abortSignal !== undefined && { signal: abortSignal }),
    };
  }
}

/** Property of a connection's call contexts; missing in connections of other classes. */
export const CALL_CONTEXTS: unique symbol = Symbol.for("temporalex.compat.callContexts");

/** A connection with call contexts. */
export interface HasCallContexts {
  /** The call contexts of the connection. */
  readonly [CALL_CONTEXTS]?: CallContexts;
}
