// A second realm over the same modules, with probes: it explains a divergence by the executed
// lines, and an infinite loop by its last line. Started when needed and disposed after idle time.
// If it cannot be started (a source is gone), verdicts have no lines.
import type { BareReplay } from "./explained.ts";
import type { Realm } from "./realm.ts";

/**
 * Idle time in milliseconds after which the realm is disposed: one replay is often followed by
 * others.
 */
const IDLE_MS = 30_000;

export class ProbedTwin {
  readonly #make: () => Promise<Realm>;
  #realm: Promise<Realm> | undefined;
  #open = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #disposed = false;

  constructor(make: () => Promise<Realm>) {
    this.#make = make;
  }

  /** Rejects if the realm cannot be started, and when it is disposed. */
  readonly replay: BareReplay = async (workflowId, history, options) => {
    if (this.#disposed) throw new Error("the realm is disposed");
    clearTimeout(this.#timer);
    this.#open++;
    try {
      const realm = await (this.#realm ??= this.#make());
      return await realm.replay(workflowId, history, { ...options, explain: false });
    } finally {
      if (--this.#open === 0 && !this.#disposed) {
        this.#timer = setTimeout(() => void this.#end(), IDLE_MS);
        (this.#timer as { unref?(): void }).unref?.();
      }
    }
  };

  async dispose(): Promise<void> {
    this.#disposed = true;
    await this.#end();
  }

  async #end(): Promise<void> {
    clearTimeout(this.#timer);
    // The next replay starts a new one.
    const realm = this.#realm;
    this.#realm = undefined;
    await (await realm?.catch(() => undefined))?.dispose();
  }
}
