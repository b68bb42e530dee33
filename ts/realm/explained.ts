// Verdicts with their explanation. It is made outside of the realm's thread, from what the replay wrote down, and only after a divergence.
import type { KnownEdits } from "../debug/divergence/mod.ts";
import type { Divergence } from "../debug/divergence/types.ts";
import type { SourceOf } from "./repairs/in_lines.ts";
import type { ReplayOptions, ReplayVerdict } from "./realm.ts";

/** Replays as a realm does it, without explanations. */
export type BareReplay = (workflowId: string, history: Uint8Array, options: ReplayOptions) => Promise<ReplayVerdict>;

export class Explainer {
  readonly #replay: BareReplay;
  readonly #probed: BareReplay | undefined;
  readonly #sourceOf: SourceOf | undefined;
  #known: KnownEdits | undefined;

  /** `probed`: replays with `lines`, in a realm whose modules have probes. `sourceOf`: the texts of its modules. */
  constructor(replay: BareReplay, probed?: BareReplay, sourceOf?: SourceOf) {
    this.#replay = replay;
    this.#probed = probed;
    this.#sourceOf = sourceOf;
  }

  /** Replays a history; a verdict that is not "ok" has what is known of its cause. */
  async replay(workflowId: string, history: Uint8Array, options: ReplayOptions = {}): Promise<ReplayVerdict> {
    const verdict = await this.#replay(workflowId, history, options);
    const { error } = verdict;
    if (error?.evidence === undefined || options.explain === false) return verdict;
    // Loaded when it is needed: a page that only runs workflows never does.
    const { explainDivergence, KnownEdits } = await import("../debug/divergence/mod.ts");
    this.#known ??= new KnownEdits();
    const { evidence: _, ...plain } = error;
    const runId = options.runId === undefined ? {} : { runId: options.runId };
    const again = (edited: Uint8Array, how: ReplayOptions) => this.#replay(workflowId, edited, { ...how, ...runId });
    const probed = this.#probed;
    const lines = probed === undefined ? undefined : async (pathOf: number) => {
      const how = { ...runId, record: true, trace: true, lines: true, pathOf, callSites: "never" } as const;
      const { strict = false } = options;
      return (await probed(workflowId, history, { ...how, strict })).trace?.lines;
    };
    const explained = await explainDivergence(history, verdict, again, { known: this.#known, lines });
    if (explained === undefined) return { ...verdict, error: plain };
    const divergence = this.#sourceOf === undefined ? explained : await this.#inLines(explained, this.#sourceOf);
    const { firstTask, eventId, location, sentence } = divergence;
    return { ...verdict, error: { ...plain, firstTask, eventId, location, sentence, divergence } };
  }
  async #inLines(divergence: Divergence, sourceOf: SourceOf): Promise<Divergence> {
    const { repairedInLines } = await import("./repairs/in_lines.ts");
    return await repairedInLines(divergence, sourceOf);
  }
}
