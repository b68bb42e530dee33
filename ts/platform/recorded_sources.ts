// Sources that note what was asked of them, to find out later whether a program that is loaded again
// would be the same one.
import { type SourceHost, withMembers } from "./source_files.ts";

/** Methods of a source host by which the loader finds and reads modules. */
const METHODS = ["read", "isFile", "real", "map", "instead", "installed"] as const;
type Method = (typeof METHODS)[number];
type Ask = (...args: (string | undefined)[]) => unknown;

export class RecordedSources {
  /** The same sources, which note each question with its result. */
  readonly host: SourceHost;
  readonly #results = new Map<string, { method: Method; args: Parameters<Ask>; result: unknown }>();

  constructor(host: SourceHost) {
    this.host = withMembers(
      host,
      Object.fromEntries(
        METHODS.filter((method) => host[method] !== undefined).map((
          method,
        ) => [method, this.#recorded(method, host)]),
      ),
    );
  }

  #recorded(method: Method, host: SourceHost): Ask {
    return (...args) => {
      const result = (host[method] as Ask).call(host, ...args);
      const key = JSON.stringify([method, ...args]);
      // The first result belongs to the program that was loaded.
      if (!this.#results.has(key)) this.#results.set(key, { method, args, result });
      return result;
    };
  }

  /** Returns whether `host` has the same result for everything that was asked. */
  isUnchanged(host: SourceHost): boolean {
    try {
      return [...this.#results.values()].every(({ method, args, result }) =>
        (host[method] as Ask | undefined)?.call(host, ...args) === result
      );
    } catch {
      // A file that can no longer be read.
      return false;
    }
  }
}
