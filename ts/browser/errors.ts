// Errors between tabs. Errors of the store itself are in ts/engine.

/** Base class of errors between tabs. */
export class TabError extends Error {
  override name = "TabError";
}

/**
 * Another tab runs a newer version of this package, with a store or messages that this page does
 * not support. Reload the page to get the newer code. No data is lost; the newer tab leads.
 */
export class PageOutdatedError extends TabError {
  override name = "PageOutdatedError";
  /** Version of the newer tab. */
  readonly newest: string;
  /** Version of this page. */
  readonly own: string;

  constructor(newest: string, own: string) {
    super(
      `another tab of this site runs temporalex ${newest}, which is not compatible with this page (${own}): reload this page`,
    );
    this.newest = newest;
    this.own = own;
  }
}

/**
 * The engine's worker could not start: its file is missing, a content security policy blocks it, or
 * its code failed.
 */
export class EngineWorkerError extends TabError {
  override name = "EngineWorkerError";
}

/** No tab leads: those that could have failed, or no tab has responded. */
export class NoLeaderError extends TabError {
  override name = "NoLeaderError";
}
