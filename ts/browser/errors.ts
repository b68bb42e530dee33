// What can go wrong between tabs, by name. What can be wrong with the store itself has its names in the engine's room.

/** Base of the errors of this room. */
export class TabError extends Error {
  override name = "TabError";
}

/**
 * Another tab runs a newer version of this package, whose store or messages this page does not know. Reload the page: the server has
 * the newer code. Nothing is lost; the newer tab has taken the store over.
 */
export class PageOutdatedError extends TabError {
  override name = "PageOutdatedError";
  /** Version of the other tab, and of this page. */
  readonly newest: string;
  /** The version of this page. */
  readonly own: string;

  constructor(newest: string, own: string) {
    super(
      `another tab of this site runs temporalex ${newest}, which is not compatible with this page (${own}): reload this page`,
    );
    this.newest = newest;
    this.own = own;
  }
}

/** The engine's worker could not be started: its file is not served, a content security policy forbids it, or its code failed. */
export class EngineWorkerError extends TabError {
  override name = "EngineWorkerError";
}

/** No tab leads: the tabs that could have given up, or none of them has answered. */
export class NoLeaderError extends TabError {
  override name = "NoLeaderError";
}
