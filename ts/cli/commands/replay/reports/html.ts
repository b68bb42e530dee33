// The report of `--html`: one history in full, or a table of many with sections for those that
// diverged or failed. Without `--html-values`, redacted histories are replayed instead, so no
// replaced value can reach the report.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { HistoryFile } from "../../../../history_files/history_file.ts";
import { redact, RedactionError, type RedactOptions } from "../../../../debug/take_away/redact.ts";
import type { WorkerRealm } from "../../../../realm/mod.ts";
import { excerptOf } from "../../../../report/code_excerpt.ts";
import { reportText } from "../../../../report/report.ts";
import { reportedRun } from "../../../../report/reported_run.ts";
import { count } from "../../../../run_view/time.ts";
import type {
  CodeExcerpt,
  ReportedLine,
  ReportedRun,
  ReportedVerdict,
} from "../../../../report/types.ts";
import { redactedText } from "../../../../run_view/words.ts";
import type { ReplayLine, Verdict } from "../line.ts";
import { parsePlace } from "../place.ts";
import type { Group, Summary } from "../summary.ts";
import { historyLabel } from "../text.ts";

export interface HtmlReportOptions {
  /** Base folder for names of workflow files. */
  readonly folder: string;
  readonly realm: WorkerRealm;
  readonly strict: boolean;
  /** Whether histories are read from their service, not from files. */
  readonly isCurrent: boolean;
  /** Replaced values; undefined: none. */
  readonly redaction: RedactOptions | undefined;
  /** The rest of the report is left out after it is aborted. */
  readonly signal: AbortSignal;
}

interface Kept {
  readonly line: ReplayLine;
  readonly history: HistoryFile;
  /** The time at which it was read from its service. */
  readonly readMs: number | undefined;
}

/** Maximum sections of one file; the rest has sections for the first history of each kind only. */
const MOST_SECTIONS = 40;
const MOST_FIRST = 80;
/** Maximum bytes of histories that are kept for sections. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Maximum rows of the table for failed histories, and for successful ones. */
const MOST_BAD = 1000;
const MOST_OK = 200;

const VERDICTS: { readonly [verdict in Verdict]: ReportedVerdict } = {
  ok: "replays",
  changed: "replays",
  nondeterminism: "diverges",
  failed: "fails",
  unreadable: "unreadable",
};

/** Changed values are not part of this report, because most values are redacted. */
const replays = ({ verdict }: ReplayLine): boolean => verdict === "ok" || verdict === "changed";

export class HtmlReport {
  readonly #options: HtmlReportOptions;
  readonly #bad: ReplayLine[] = [];
  readonly #ok: ReplayLine[] = [];
  readonly #kept: Kept[] = [];
  #first: Kept | undefined;
  #bytes = 0;
  /** Histories without a section because of the limits. */
  #without = 0;

  constructor(options: HtmlReportOptions) {
    this.#options = options;
  }

  /** The first history is kept, because an only history always has a section. */
  keeps(line: ReplayLine, number: number): boolean {
    return number === 0 || !replays(line);
  }

  add(line: ReplayLine, group: Group | undefined, history: HistoryFile | undefined): void {
    const isFirst = this.#bad.length + this.#ok.length === 0;
    const readMs = this.#options.isCurrent ? Date.now() : undefined;
    if (isFirst && history !== undefined) this.#first = { line, history, readMs };
    else this.#first = undefined;
    const [lines, most] = replays(line) ? [this.#ok, MOST_OK] : [this.#bad, MOST_BAD];
    if (lines.length < most) lines.push(line);
    if (replays(line) || history === undefined) return;
    const room = group?.runs === 1 ? MOST_FIRST : MOST_SECTIONS;
    if (this.#kept.length >= room || this.#bytes + history.bytes.length > MOST_BYTES) {
      this.#without++;
    } else {
      this.#bytes += history.bytes.length;
      this.#kept.push({ line, history, readMs });
    }
  }

  /** Returns the report. */
  async text(summary: Summary): Promise<string> {
    const madeMs = Date.now();
    const { signal } = this.#options;
    if (summary.histories === 1 && this.#first !== undefined && !signal.aborted) {
      return reportText({ runs: [await this.#run(this.#first)], madeMs });
    }
    const runs: ReportedRun[] = [];
    const indices = new Map<ReplayLine, number>();
    for (const kept of this.#kept) {
      if (signal.aborted) break;
      runs.push(await this.#run(kept));
      indices.set(kept.line, runs.length - 1);
    }
    const lines = [...this.#bad, ...this.#ok].map((line) => {
      const run = indices.get(line);
      return {
        ...this.#line(line, run === undefined ? undefined : runs[run]),
        ...(run !== undefined && { run }),
      };
    });
    const { changed, ...others } = summary.verdicts;
    const numbers = { ...others, ok: others.ok + changed };
    const verdicts = (Object.keys(numbers) as (keyof typeof numbers)[])
      .filter((verdict) => numbers[verdict] > 0)
      .map((verdict) => [VERDICTS[verdict], numbers[verdict]] as const);
    return reportText({
      runs,
      many: { verdicts, lines, leftOut: this.#leftOut(summary, runs.length) },
      madeMs,
    });
  }

  #leftOut({ verdicts, interrupted, gone }: Summary, sections: number): string[] {
    const sentence = (n: number, what: string) =>
      n > 0 ? [`${count(n)} ${n === 1 ? "history" : "histories"} ${what}.`] : [];
    const bad = verdicts.nondeterminism + verdicts.failed + verdicts.unreadable;
    return [
      ...(interrupted
        ? ["The replay was interrupted: histories after these were not looked at."]
        : []),
      ...sentence(gone, "were gone before they were read"),
      ...sentence(bad - this.#bad.length, "that do not replay are not listed"),
      ...sentence(verdicts.ok + verdicts.changed - this.#ok.length, "that replay are not listed"),
      ...sentence(
        this.#without + this.#kept.length - sections,
        "that do not replay have no section: there are too many for one file",
      ),
    ];
  }

  #line(line: ReplayLine, run: ReportedRun | undefined): ReportedLine {
    const { verdict, workflowType: type, workflowId: id, events, error } = line;
    // Messages of the code may contain values; with a redacted history they cannot.
    const text = verdict !== "failed" || this.#options.redaction === undefined
      ? error?.sentence ?? error?.message ?? ""
      : run?.problem?.message ?? run?.notReplayed ?? "The code fails where the run continued.";
    return { source: historyLabel(line), verdict: VERDICTS[verdict], type, id, events, text };
  }

  async #run({ line, history, readMs }: Kept): Promise<ReportedRun> {
    const { realm, strict, redaction } = this.#options;
    const common = {
      source: historyLabel(line),
      readMs,
      excerpt: (location: string) => this.#excerpt(location),
    };
    if (redaction === undefined) {
      return await reportedRun({
        ...common,
        history,
        realm,
        strict,
        values: "Values are as recorded.",
      });
    }
    const { numbers = false, keep = [], rules } = redaction;
    const values = redactedText(numbers, keep.length, rules !== undefined);
    const redacted = await this.#redacted(history, redaction);
    if (redacted !== undefined) {
      return await reportedRun({
        ...common,
        history: { ...history, bytes: redacted },
        realm,
        strict,
        values,
      });
    }
    const { history: bytes } = await redact(history.bytes, redaction);
    const run = await reportedRun({
      ...common,
      history: { ...history, bytes: bytes! },
      values,
      notReplayed:
        "What the code did is left out: it depends on values that are replaced here. A report with values has it.",
    });
    return { ...run, verdict: VERDICTS[line.verdict], ...this.#withoutReplay(line) };
  }

  /** Returns undefined if the code would diverge. */
  async #redacted(
    { bytes, workflowId }: HistoryFile,
    redaction: RedactOptions,
  ): Promise<Uint8Array | undefined> {
    try {
      // Text patterns need the user's consent, which is not available here: they are not searched.
      return (await redact(bytes, {
        ...redaction,
        realm: this.#options.realm,
        workflowId,
        signal: AbortSignal.abort(),
      })).history;
    } catch (e) {
      if (e instanceof RedactionError) return undefined;
      throw e;
    }
  }

  /** Returns the parts of replay lines without values. */
  #withoutReplay({ verdict, error }: ReplayLine): Pick<ReportedRun, "problem" | "code"> {
    if (error === undefined) return { problem: undefined, code: undefined };
    const { message, sentence, eventId, expected, actual, location } = error;
    const isDivergence = verdict === "nondeterminism";
    const diffs = expected === "" && actual === "" ? [] : [{ field: "step", expected, actual }];
    const said = isDivergence
      ? sentence ?? message
      : "The code fails here. What it threw is left out: it may hold values.";
    const problem = {
      message: said,
      position: eventId,
      eventId,
      expected,
      actual,
      diffs,
      location,
      isDivergence,
    };
    return { problem, code: location === "" ? undefined : this.#excerpt(location) };
  }

  /** Reads the code from disk, if the file exists and is code. */
  #excerpt(location: string): CodeExcerpt | undefined {
    const { folder } = this.#options;
    const place = parsePlace(location, folder);
    if (place === undefined || !/\.[cm]?[jt]sx?$/.test(place.file)) return undefined;
    try {
      return excerptOf(place.file, readFileSync(resolve(folder, place.file), "utf8"), place.line);
    } catch {
      return undefined;
    }
  }
}
