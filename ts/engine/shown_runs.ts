// What completed workflow tasks show of their runs, from the call until its commit. A completion
// that the core rejects shows nothing.
import type { Reply } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { CallOptions } from "../service/raw.ts";
import type { ShownOfRuns } from "./store.ts";

type OfCall = NonNullable<CallOptions["shown"]>;

const NONE: ShownOfRuns = new Map();

/** The map is cleared at this size, because some calls never get a response. */
const MOST = 10_000;

export class ShownRuns {
  readonly #ofCall = new Map<number, OfCall>();

  note(requestId: number, shown: OfCall | undefined): void {
    if (shown === undefined) return;
    if (this.#ofCall.size >= MOST) this.#ofCall.clear();
    this.#ofCall.set(requestId, shown);
  }

  /** Returns what the calls of these replies show, by run id, and removes it. */
  taken(replies: readonly Reply[]): ShownOfRuns {
    if (this.#ofCall.size === 0) return NONE;
    const runs = new Map<string, OfCall>();
    for (const { requestId, error } of replies) {
      const shown = this.#ofCall.get(requestId);
      if (shown === undefined) continue;
      this.#ofCall.delete(requestId);
      if (error === undefined) runs.set(shown.runId, shown);
    }
    return runs;
  }
}
