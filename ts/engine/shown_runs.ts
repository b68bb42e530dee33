// What completed workflow tasks show of their runs, between the call that brings it and the commit that keeps it. A completion that the core
// refuses shows nothing.
import type { Reply } from "../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { CallOptions } from "../service/raw.ts";
import type { ShownOfRuns } from "./store.ts";

type OfCall = NonNullable<CallOptions["shown"]>;

const NONE: ShownOfRuns = new Map();

/** Calls that are never answered are forgotten after a while. */
const MOST = 10_000;

export class ShownRuns {
  readonly #ofCall = new Map<number, OfCall>();

  note(requestId: number, shown: OfCall | undefined): void {
    if (shown === undefined) return;
    if (this.#ofCall.size >= MOST) this.#ofCall.clear();
    this.#ofCall.set(requestId, shown);
  }

  /** Of the calls that are answered now. */
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
