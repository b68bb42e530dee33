// The client that activities have, as far as this room calls it.

/** A client with the connection of the activity's worker. */
export interface Client {
  /** Calls made in `fn` end when the signal is aborted. */
  withAbortSignal<R>(signal: AbortSignal, fn: () => Promise<R>): Promise<R>;
}
