// One realm for several cases, where they do not disturb each other: its start costs more than most
// cases.

/** Runs a case with the shared realm. */
export type UseShared<T> = <R>(body: (realm: T) => Promise<R>) => Promise<R>;

export class SharedRealm<T extends { dispose(): Promise<void> }> {
  readonly #make: () => Promise<T>;
  /** Users that have not run yet. */
  readonly #unused = new Set<object>();
  #realm: Promise<T> | undefined;

  constructor(make: () => Promise<T>) {
    this.#make = make;
  }

  /** Declares a user, before any runs. The realm is disposed when each has run once. */
  user(): UseShared<T> {
    const me = {};
    this.#unused.add(me);
    return async (body) => {
      try {
        return await body(await (this.#realm ??= this.#make()));
      } finally {
        this.#unused.delete(me);
        if (this.#unused.size === 0) await this.#end();
      }
    };
  }

  async #end(): Promise<void> {
    const realm = this.#realm;
    this.#realm = undefined;
    // A start that failed is an error of the users.
    await (await realm?.catch(() => undefined))?.dispose();
  }
}
