// Verdicts with their explanation. It is made outside of the realm's thread, and only of replays that fail: of a divergence from what the
// replay wrote down, of code that took its realm down from another replay.
import type { KnownEdits } from "../debug/divergence/mod.ts";
import type { Divergence } from "../debug/divergence/types.ts";
import type { LastLines } from "./last_line.ts";
import type { SourceOf } from "./repairs/in_lines.ts";
import type { ReplayOptions, ReplayVerdict } from "./realm.ts";

/** Replays as a realm does it, without explanations. */
export type BareReplay = (workflowId: string, history: Uint8Array, options: ReplayOptions) => Promise<ReplayVerdict>;

/** What there is to explain with. */
export interface ExplainerHelp {
  /** Replays with `lines`, in a realm whose modules have probes. */
  readonly probed?: BareReplay | undefined;
  /** Where code stood that took its realm down. */
  readonly lastLines?: LastLines | undefined;
  /** The texts of the modules. */
  readonly sourceOf?: SourceOf | undefined;
}

export class Explainer {
  readonly #replay: BareReplay;
  readonly #help: ExplainerHelp;
  #known: KnownEdits | undefined;

  constructor(replay: BareReplay, help: ExplainerHelp = {}) {
    this.#replay = replay;
    this.#help = help;
  }

  /** Replays a history; a verdict that is not "ok" has what is known of its cause. */
  async replay(workflowId: string, history: Uint8Array, options: ReplayOptions = {}): Promise<ReplayVerdict> {
    const verdict = await this.#replay(workflowId, history, options);
    const { error } = verdict;
    if (error === undefined || options.explain === false) return verdict;
    const { probed, lastLines, sourceOf } = this.#help;
    if (error.lost !== undefined) {
      const stood = await lastLines?.of(workflowId, history, options, error.lost, error.eventId);
      return stood === undefined
        ? verdict
        : { ...verdict, error: { ...error, location: stood.location, eventId: stood.eventId } };
    }
    if (error.evidence === undefined) return verdict;
    // Loaded when it is needed: a page that only runs workflows never does.
    const { explainDivergence, KnownEdits } = await import("../debug/divergence/mod.ts");
    this.#known ??= new KnownEdits();
    const { evidence: _, ...plain } = error;
    const runId = options.runId === undefined ? {} : { runId: options.runId };
    const again = (edited: Uint8Array, how: ReplayOptions) => this.#replay(workflowId, edited, { ...how, ...runId });
    const lines = probed === undefined ? undefined : async (pathOf: number) => {
      const how = { ...runId, record: true, trace: true, lines: true, pathOf, callSites: "never" } as const;
      const { strict = false } = options;
      return (await probed(workflowId, history, { ...how, strict })).trace?.lines;
    };
    const explained = await explainDivergence(history, verdict, again, { known: this.#known, lines });
    if (explained === undefined) return { ...verdict, error: plain };
    const divergence = sourceOf === undefined ? explained : await this.#inLines(explained, sourceOf);
    const { firstTask, eventId, location, sentence } = divergence;
    return { ...verdict, error: { ...plain, firstTask, eventId, location, sentence, divergence } };
  }
  async #inLines(divergence: Divergence, sourceOf: SourceOf): Promise<Divergence> {
    const { repairedInLines } = await import("./repairs/in_lines.ts");
    return await repairedInLines(divergence, sourceOf);
  }
}
