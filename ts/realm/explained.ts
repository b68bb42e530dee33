// Adds explanations to replay verdicts, outside of the realm's thread and only for failed replays:
// a divergence is explained by the data that the replay recorded, code that took down its realm by
// another replay.
import type { KnownEdits } from "../debug/divergence/mod.ts";
import type { Divergence } from "../debug/divergence/types.ts";
import { EXTRA_COMMAND, hasExtraCommand, isThrownByCode } from "../debug/verdict_kinds.ts";
import type { LastLines } from "./last_line.ts";
import type { SourceOf, SourceText } from "../modules/repairs/in_lines.ts";
import type { ReplayOptions, ReplayVerdict } from "./realm.ts";

/** Replays like a realm, without explanations. */
export type BareReplay = (
  workflowId: string,
  history: Uint8Array,
  options: ReplayOptions,
) => Promise<ReplayVerdict>;

/** Sources of explanations; each may be missing. */
export interface ExplainerHelp {
  /** Replays with `lines`, in a realm whose modules have probes. */
  readonly probed?: BareReplay | undefined;
  /** Finds the line at which code took down its realm. */
  readonly lastLines?: LastLines | undefined;
  /** Returns texts of modules. */
  readonly sourceOf?: SourceOf | undefined;
  /** Starts a realm in which one module has another text. */
  readonly withText?: ((changed: SourceText) => Promise<ReplayRealm>) | undefined;
  /** Namespace of the realm's runs; "" or undefined: not set. */
  readonly namespace?: string | undefined;
}

/** Maximum number of repairs whose replay is cached. */
const MAX_APPLIED = 200;

/** A realm for a single replay. */
export interface ReplayRealm {
  replay: BareReplay;
  dispose(): Promise<void>;
}

export class Explainer {
  readonly #replay: BareReplay;
  readonly #help: ExplainerHelp;
  #known: KnownEdits | undefined;
  /** By module and text: whether the first history that needed this repair replays with it. */
  readonly #applied = new Map<string, boolean>();

  constructor(replay: BareReplay, help: ExplainerHelp = {}) {
    this.#replay = replay;
    this.#help = help;
  }

  /**
   * Replays a history. Adds what is known of the cause to verdicts other than "ok", and compared
   * values if they are requested.
   */
  async replay(
    workflowId: string,
    history: Uint8Array,
    options: ReplayOptions = {},
  ): Promise<ReplayVerdict> {
    const { values = false, ...others } = options;
    if (values === false) return await this.#explained(workflowId, history, others);
    const { compareReplayedValues } = await import("../debug/explanations.ts");
    const how = { ...others, record: true, trace: true, callSites: "always" } as const;
    const { recorded, trace, ...verdict } = await this.#explained(workflowId, history, how);
    const { probed } = this.#help;
    const { strict = false, runId } = options;
    const linesOf = probed === undefined ? undefined : async (pathOf: number) => {
      const traced = {
        ...{ record: true, trace: true, lines: true, explain: false, strict, pathOf },
        callSites: "never",
        ...(runId !== undefined && { runId }),
      } as const;
      // The sources may have changed: the value is reported without a line.
      const again = await probed(workflowId, history, traced).catch(() => undefined);
      return again?.trace?.lines;
    };
    return {
      ...verdict,
      ...(options.record === true && recorded !== undefined && { recorded }),
      ...(options.trace === true && trace !== undefined && { trace }),
      ...await compareReplayedValues(
        history,
        { ...verdict, ...(recorded && { recorded }), ...(trace && { trace }) },
        values === true ? {} : values,
        this.#unknownTexts(workflowId),
        linesOf,
      ),
    };
  }

  /** Texts that code gets in place of facts that a history does not contain. */
  #unknownTexts(workflowId: string): ReadonlySet<string> {
    const { namespace = "" } = this.#help;
    return new Set([workflowId, namespace].filter((text) => text === ""));
  }

  async #explained(
    workflowId: string,
    history: Uint8Array,
    options: ReplayOptions,
  ): Promise<ReplayVerdict> {
    const verdict = await this.#replay(workflowId, history, options);
    const { error } = verdict;
    if (options.explain === false) return verdict;
    if (error === undefined) {
      return await this.#withExtraCommands(workflowId, history, options, verdict);
    }
    const { probed, lastLines, sourceOf } = this.#help;
    if (error.lost !== undefined) {
      const last = await lastLines?.of(workflowId, history, options, error.lost, error.eventId);
      return last === undefined
        ? verdict
        : { ...verdict, error: { ...error, location: last.location, eventId: last.eventId } };
    }
    if (error.evidence === undefined) return verdict;
    if (isThrownByCode(verdict)) return await this.#located(workflowId, history, options, verdict);
    // Loaded when needed: a page that only runs workflows never needs it.
    const { explainDivergence, KnownEdits } = await import("../debug/explanations.ts");
    this.#known ??= new KnownEdits();
    const { evidence: _, ...plain } = error;
    const runId = options.runId === undefined ? {} : { runId: options.runId };
    const again = (edited: Uint8Array, how: ReplayOptions) =>
      this.#replay(workflowId, edited, { ...how, ...runId });
    const lines = probed === undefined ? undefined : async (pathOf: number) => {
      const how = {
        ...runId,
        record: true,
        trace: true,
        lines: true,
        pathOf,
        callSites: "never",
      } as const;
      const { strict = false } = options;
      return (await probed(workflowId, history, { ...how, strict })).trace?.lines;
    };
    const explained = await explainDivergence(history, verdict, again, {
      known: this.#known,
      lines,
    });
    if (explained === undefined) return { ...verdict, error: plain };
    const divergence = sourceOf === undefined || options.repairs === false
      ? explained
      : await this.#inLines(explained, sourceOf, (changed) =>
        this.#replaysWith(changed, workflowId, history, options));
    const { firstTask, eventId, location, sentence } = divergence;
    return { ...verdict, error: { ...plain, firstTask, eventId, location, sentence, divergence } };
  }

  /** Adds to the warning about commands that the history lacks what they are and their lines. */
  async #withExtraCommands(
    workflowId: string,
    history: Uint8Array,
    options: ReplayOptions,
    verdict: ReplayVerdict,
  ): Promise<ReplayVerdict> {
    if (!hasExtraCommand(verdict)) return verdict;
    const { commandsNotInHistory, decodeEventList, notInHistoryText, shortPlace } = await import(
      "../debug/explanations.ts"
    );
    const how = {
      ...options,
      record: true,
      trace: true,
      callSites: "always",
      lines: false,
    } as const;
    const isRecorded = options.record === true && options.trace === true &&
      options.callSites === "always";
    const { recorded = [], trace } = isRecorded
      ? verdict
      : await this.#replay(workflowId, history, how);
    const extra = commandsNotInHistory(verdict, decodeEventList(history), {
      activations: recorded,
      jobs: trace?.jobs ?? [],
    });
    if (extra.length === 0) return verdict;
    const place = shortPlace(extra[0]!.site);
    const task = extra[0]!.isLast ? "Replays, then" : `In task ${extra[0]!.task} the code`;
    const message = `${task} ${notInHistoryText(extra)}${place === "" ? "" : `: ${place}`}`;
    return {
      ...verdict,
      warnings: verdict.warnings.map((warning) =>
        warning.code === EXTRA_COMMAND ? { ...warning, message } : warning
      ),
    };
  }

  /**
   * Adds a location to an error of workflow code. A thrown value without a stack gets the last
   * executed line.
   */
  async #located(
    workflowId: string,
    history: Uint8Array,
    { runId, strict = false }: ReplayOptions,
    verdict: ReplayVerdict,
  ): Promise<ReplayVerdict> {
    const { evidence, ...error } = verdict.error!;
    const { probed } = this.#help;
    const { startedEventId = 0, historyLength = 0 } = evidence!.activations.at(-1) ?? {};
    // After the last task the code also runs for the events that no completed task processed.
    const failedAt = Math.max(startedEventId, historyLength);
    const eventId = error.eventId > 0 ? error.eventId : failedAt;
    if (error.location !== "" || probed === undefined) {
      return { ...verdict, error: { ...error, eventId } };
    }
    const how = {
      record: true,
      trace: true,
      lines: true,
      pathOf: startedEventId,
      callSites: "never",
      explain: false,
    } as const;
    // The sources may have changed, or the realm is disposed: the error is reported without a line.
    const again = await probed(workflowId, history, {
      ...how,
      strict,
      ...(runId !== undefined && { runId }),
    })
      .catch(() => undefined);
    const lines = again?.trace?.lines;
    if (lines === undefined) return { ...verdict, error: { ...error, eventId } };
    const { formatLocation, readPath } = await import("../debug/explanations.ts");
    const steps = readPath(lines);
    const last = steps.findLast(({ throws }) => throws) ?? steps.at(-1);
    return {
      ...verdict,
      error: { ...error, eventId, location: last === undefined ? "" : formatLocation(last) },
    };
  }

  async #inLines(
    divergence: Divergence,
    sourceOf: SourceOf,
    replays: (changed: SourceText) => Promise<boolean>,
  ): Promise<Divergence> {
    const { changedText, repairedInLines, unverified } = await import(
      "../modules/repairs/in_lines.ts"
    );
    const inLines = await repairedInLines(divergence, sourceOf);
    const { repair } = inLines;
    if (repair?.changes === undefined) return inLines;
    const changed = changedText(repair, sourceOf);
    if (changed !== undefined && await replays(changed)) {
      return { ...inLines, repair: { ...repair, isReplayed: true } };
    }
    const { changes: _, ...shown } = repair;
    return unverified(inLines, shown);
  }

  /**
   * Whether the history replays strictly with the repair applied. False if no realm can run the
   * changed module. Cached for histories that need the same repair.
   */
  async #replaysWith(
    changed: SourceText,
    workflowId: string,
    history: Uint8Array,
    { runId }: ReplayOptions,
  ): Promise<boolean> {
    const { withText } = this.#help;
    if (withText === undefined) return false;
    const key = `${changed.url}\n${changed.text}`;
    const known = this.#applied.get(key);
    if (known !== undefined) return known;
    let realm: ReplayRealm | undefined;
    try {
      realm = await withText(changed);
      const how = {
        strict: true,
        explain: false,
        callSites: "never",
        ...(runId !== undefined && { runId }),
      } as const;
      const { verdict } = await realm.replay(workflowId, history, how);
      if (this.#applied.size < MAX_APPLIED) this.#applied.set(key, verdict === "ok");
      return verdict === "ok";
    } catch {
      // The changed module does not load, or this realm is being disposed: the repair is
      // unverified.
      return false;
    } finally {
      await realm?.dispose();
    }
  }
}
