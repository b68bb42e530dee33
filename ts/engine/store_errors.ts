// Errors of a store. A StoreError itself is an operation that the storage rejected (disk full, I/O
// error): the next one may succeed. The subclasses are final for this open store, except
// StoreFullError and StoreBusyError.

/** An operation of the store failed; nothing was written. `cause` is the driver's error. */
export class StoreError extends Error {
  override name = "StoreError";
}

/** A newer version of this package wrote the file: opening it could damage it. */
export class StoreVersionError extends StoreError {
  override name = "StoreVersionError";
  /** Schema version of the file. */
  readonly found: number;
  /** The newest schema version that this package supports. */
  readonly known: number;

  constructor(message: string, found: number, known: number) {
    super(message);
    this.found = found;
    this.known = known;
  }
}

/** The file exists and is not a store. It was not changed. */
export class NotAStoreError extends StoreError {
  override name = "NotAStoreError";
}

/** The holder of a store, as far as known. */
export interface StoreHolder {
  /** Process id. */
  readonly pid: number;
  readonly host: string;
  /** When the holder opened the store, in milliseconds since the epoch. */
  readonly openedMs: number;
  /** The holder's SQLite library. */
  readonly driver: string;
  /** The holder has the store open only briefly, for a read or one request: try again. */
  readonly visit: boolean;
}

/** Another process (or another engine of this one) has the store open. */
export class StoreLockedError extends StoreError {
  override name = "StoreLockedError";
  /** Undefined if the holder is unknown. */
  readonly holder: StoreHolder | undefined;

  constructor(message: string, holder: StoreHolder | undefined, options?: ErrorOptions) {
    super(message, options);
    this.holder = holder;
  }
}

/**
 * Another process replaced this one as the owner, or the file was removed or replaced while it was
 * open. This process no longer writes.
 */
export class StoreFencedError extends StoreError {
  override name = "StoreFencedError";
}

/** The file is damaged: truncated, or with inconsistent pages. */
export class StoreCorruptError extends StoreError {
  override name = "StoreCorruptError";
}

/**
 * The disk is full, or the browser's quota is used up. Nothing of the change was written; earlier
 * acknowledged changes are safe. Free space and retry; removing runs needs some space too.
 */
export class StoreFullError extends StoreError {
  override name = "StoreFullError";
}

/** Browsers: this page has no storage. The message states the remedy. */
export class StoreUnavailableError extends StoreError {
  override name = "StoreUnavailableError";
  /**
   * "insecure": not https; "unsupported": the browser lacks a feature; "blocked": a private window,
   * or site data is blocked.
   */
  readonly reason: "insecure" | "unsupported" | "blocked";

  constructor(message: string, reason: StoreUnavailableError["reason"], options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * Another program had a write transaction open in the store's file for ten seconds. Nothing of the
 * change was written. In browsers: the files stayed in use although no process holds the store's
 * lock.
 */
export class StoreBusyError extends StoreError {
  override name = "StoreBusyError";
}

/** An import would replace runs. Nothing was changed; set `force` to replace them. */
export class StoreNotEmptyError extends StoreError {
  override name = "StoreNotEmptyError";
}

/** Whether the store cannot recover while it is open: the engine stops instead of retrying. */
export function isFinalStoreError(e: unknown): boolean {
  return e instanceof StoreFencedError || e instanceof StoreCorruptError ||
    e instanceof StoreLockedError;
}

/** Whether another process has the store open or locked only briefly: retry soon. */
export function isMomentary(e: unknown): boolean {
  return e instanceof StoreBusyError ||
    (e instanceof StoreLockedError && (e.holder === undefined || e.holder.visit));
}
