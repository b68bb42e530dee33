// A second realm over the same modules, with probes: a divergence is explained by the lines that ran. It is made when the first divergence
// needs it, since few realms ever see one. Where it cannot be made (a source is gone) explanations do without.
import type { BareReplay } from "./explained.ts";
import type { Realm } from "./realm.ts";

export class ProbedTwin {
  readonly #make: () => Promise<Realm>;
  #realm: Promise<Realm> | undefined;
  #disposed = false;

  constructor(make: () => Promise<Realm>) {
    this.#make = make;
  }

  /** Rejects where it cannot be made, and when it is disposed. */
  readonly replay: BareReplay = async (workflowId, history, options) => {
    if (this.#disposed) throw new Error("the realm is disposed");
    this.#realm ??= this.#make();
    const realm = await this.#realm;
    return await realm.replay(workflowId, history, { ...options, explain: false });
  };

  async dispose(): Promise<void> {
    this.#disposed = true;
    const realm = await this.#realm?.catch(() => undefined);
    this.#realm = undefined;
    await realm?.dispose();
  }
}
