// A second realm over the same modules, with probes: a divergence is explained by the lines that ran, and code that never ends by the one
// that ran last. It is made when it is needed, since few realms ever see one, and given back after a while without use. Where it cannot be
// made (a source is gone) explanations do without.
import type { BareReplay } from "./explained.ts";
import type { Realm } from "./realm.ts";

/** One replay is often followed by others: a realm is kept for so long, milliseconds. */
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

  /** Rejects where it cannot be made, and when it is disposed. */
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
    // The next replay makes a new one.
    const realm = this.#realm;
    this.#realm = undefined;
    await (await realm?.catch(() => undefined))?.dispose();
  }
}
