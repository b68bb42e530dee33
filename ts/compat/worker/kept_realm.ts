// The realm of the last replay is kept for a while: test suites replay one history per call, and a
// realm takes about 0.3 s of processor time to start. A kept realm is used again only for the same
// options, and only if everything that its loader has read is still the same.
import { RecordedSources } from "../../platform/recorded_sources.ts";
import type { SourceHost } from "../../platform/source_files.ts";

/** Time in milliseconds for which an unused realm is kept. */
const KEPT_MS = 10_000;

/** What a replay needs of a realm. */
interface Disposable {
  dispose(): Promise<void>;
}

/** A realm with what changes from call to call: `bound` is replaced by that of the next user. */
export interface Lease<R, B> {
  readonly realm: R;
  readonly bound: { current: B };
  readonly sources: RecordedSources;
  readonly key: string;
}

/** Keeps at most one realm that is not in use. */
export class KeptRealm<R extends Disposable, B> {
  readonly #keptMs: number;
  #kept: Lease<R, B> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(keptMs = KEPT_MS) {
    this.#keptMs = keptMs;
  }

  /**
   * Returns the kept realm, if its `key` is the same and its program unchanged, or a new one. The
   * caller has it alone until `release` or `dispose`.
   */
  async take(
    key: string,
    host: SourceHost,
    current: B,
    start: (sources: SourceHost, bound: { current: B }) => Promise<R>,
  ): Promise<Lease<R, B>> {
    const kept = this.#kept;
    if (kept?.key === key && kept.sources.isUnchanged(host)) {
      this.#kept = undefined;
      clearTimeout(this.#timer);
      kept.bound.current = current;
      return kept;
    }
    const sources = new RecordedSources(host), bound = { current };
    return { key, sources, bound, realm: await start(sources.host, bound) };
  }

  /** Takes a realm back. The one that was kept before is disposed. */
  async release(lease: Lease<R, B>): Promise<void> {
    const before = this.#kept;
    this.#kept = lease;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.end().catch(() => {}), this.#keptMs);
    // It does not keep the process running.
    (this.#timer as { unref?(): void }).unref?.();
    await before?.realm.dispose();
  }

  /** Disposes the kept realm. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    const kept = this.#kept;
    this.#kept = undefined;
    await kept?.realm.dispose();
  }
}
