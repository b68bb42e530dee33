// What can be wrong with a store, by name. Each message says what was found and what to do about it. `StoreError` itself is an
// operation that the storage refused (disk full, I/O error): the next one may succeed. The subclasses are final for this open store.

/** An operation of the store failed; nothing of it was kept. `cause` is the driver's own error. */
export class StoreError extends Error {
  override name = "StoreError";
}

/** The file was written by a newer version of this package: opening it could damage it. */
export class StoreVersionError extends StoreError {
  override name = "StoreVersionError";
  /** Schema version of the file, and the newest one that this package knows. */
  readonly found: number;
  /** The newest schema version that this package knows. */
  readonly known: number;

  constructor(message: string, found: number, known: number) {
    super(message);
    this.found = found;
    this.known = known;
  }
}

/** The file exists and is not one of ours. It was not changed. */
export class NotAStoreError extends StoreError {
  override name = "NotAStoreError";
}

/** Who holds a store, as far as it is known. */
export interface StoreHolder {
  /** Its process id. */
  readonly pid: number;
  /** The machine that it runs on. */
  readonly host: string;
  /** When the holder opened the store, in milliseconds since the epoch. */
  readonly openedMs: number;
  /** Name of the driver that the holder uses. */
  readonly driver: string;
  /** It has the store for a moment only, to read something or to record one request: try again. */
  readonly visit: boolean;
}

/** Another process (or another engine of this one) has the store open. One writer per store. */
export class StoreLockedError extends StoreError {
  override name = "StoreLockedError";
  /** Undefined when the holder did not leave its name. */
  readonly holder: StoreHolder | undefined;

  constructor(message: string, holder: StoreHolder | undefined, options?: ErrorOptions) {
    super(message, options);
    this.holder = holder;
  }
}

/** Another process took the store over, or its file was removed or replaced, while this process had it open. Nothing more is written. */
export class StoreFencedError extends StoreError {
  override name = "StoreFencedError";
}

/** The file is damaged: cut short, or its pages do not fit together. */
export class StoreCorruptError extends StoreError {
  override name = "StoreCorruptError";
}

/**
 * The disk is full, or a browser gives this site no more storage. Nothing of the change was kept; what was acknowledged before is there.
 * Free space and try again; even removing runs needs some.
 */
export class StoreFullError extends StoreError {
  override name = "StoreFullError";
}

/** Browsers: this page can keep nothing. The message says what to do. */
export class StoreUnavailableError extends StoreError {
  override name = "StoreUnavailableError";
  /** "insecure": not https; "unsupported": the browser lacks a part; "blocked": a private window, or site data is blocked. */
  readonly reason: "insecure" | "unsupported" | "blocked";

  constructor(message: string, reason: StoreUnavailableError["reason"], options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}

/**
 * The store's files are in use by another program: it has a transaction open that writes into the file, and kept it open for ten seconds.
 * Nothing of the change was kept. In browsers: the files stayed in use although no process holds the store's lock.
 */
export class StoreBusyError extends StoreError {
  override name = "StoreBusyError";
}

/** An import would replace runs. Nothing was changed; say `force` to replace them. */
export class StoreNotEmptyError extends StoreError {
  override name = "StoreNotEmptyError";
}

/** The store can never serve again while it is open: the engine stops instead of retrying. */
export function isFinalStoreError(e: unknown): boolean {
  return e instanceof StoreFencedError || e instanceof StoreCorruptError || e instanceof StoreLockedError;
}

/** Another process has the store open or locked for a moment only, or is just opening or closing it: it is worth while to try again soon. */
export function isMomentary(e: unknown): boolean {
  return e instanceof StoreBusyError || (e instanceof StoreLockedError && (e.holder === undefined || e.holder.visit));
}
