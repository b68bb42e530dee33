// The report of `--html`: of one history all that happened, of many a table, and a section for each that diverged or failed. Without
// `--html-values` it is made from redacted histories, replayed as they are: nothing that it shows was ever in reach of what was replaced.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { HistoryFile } from "../../../../history_files/history_file.ts";
import { redact, RedactionError, type RedactOptions } from "../../../../debug/take_away/redact.ts";
import type { WorkerRealm } from "../../../../realm/mod.ts";
import { excerptOf } from "../../../../report/code_excerpt.ts";
import { reportText } from "../../../../report/report.ts";
import { reportedRun } from "../../../../report/reported_run.ts";
import { count } from "../../../../run_view/time.ts";
import type { CodeExcerpt, ReportedLine, ReportedRun, ReportedVerdict } from "../../../../report/types.ts";
import { redactedText } from "../../../../run_view/words.ts";
import type { ReplayLine, Verdict } from "../line.ts";
import { parsePlace } from "../place.ts";
import type { Group, Summary } from "../summary.ts";
import { historyLabel } from "../text.ts";

export interface HtmlReportOptions {
  /** Files of workflow code are named relative to it. */
  readonly folder: string;
  readonly realm: WorkerRealm;
  readonly strict: boolean;
  /** Which values are replaced; undefined: none. */
  readonly redaction: RedactOptions | undefined;
  /** What is not made by then is left out. */
  readonly signal: AbortSignal;
}

interface Kept {
  readonly line: ReplayLine;
  readonly history: HistoryFile;
}

/** Sections of one file, and how many more there are for the first of each kind of trouble. */
const MOST_SECTIONS = 40;
const MOST_FIRST = 80;
/** Bytes of histories that are kept for sections. */
const MOST_BYTES = 64 * 1024 * 1024;
/** Rows of the table: those that are not ok, and those that are. */
const MOST_BAD = 1000;
const MOST_OK = 200;

const VERDICTS: { readonly [verdict in Verdict]: ReportedVerdict } = {
  ok: "replays",
  nondeterminism: "diverges",
  failed: "fails",
  unreadable: "unreadable",
};

export class HtmlReport {
  readonly #options: HtmlReportOptions;
  readonly #bad: ReplayLine[] = [];
  readonly #ok: ReplayLine[] = [];
  readonly #kept: Kept[] = [];
  #first: Kept | undefined;
  #bytes = 0;
  /** Histories that would have a section if there were room. */
  #without = 0;

  constructor(options: HtmlReportOptions) {
    this.#options = options;
  }

  /** The first history may be the only one, and has a section then whatever its verdict is. */
  keeps(line: ReplayLine, number: number): boolean {
    return number === 0 || line.verdict !== "ok";
  }

  add(line: ReplayLine, group: Group | undefined, history: HistoryFile | undefined): void {
    const isFirst = this.#bad.length + this.#ok.length === 0;
    if (isFirst && history !== undefined) this.#first = { line, history };
    else this.#first = undefined;
    const [lines, most] = line.verdict === "ok" ? [this.#ok, MOST_OK] : [this.#bad, MOST_BAD];
    if (lines.length < most) lines.push(line);
    if (line.verdict === "ok" || history === undefined) return;
    const room = group?.runs === 1 ? MOST_FIRST : MOST_SECTIONS;
    if (this.#kept.length >= room || this.#bytes + history.bytes.length > MOST_BYTES) this.#without++;
    else {
      this.#bytes += history.bytes.length;
      this.#kept.push({ line, history });
    }
  }

  /** The file. */
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
      return { ...this.#line(line, run === undefined ? undefined : runs[run]), ...(run !== undefined && { run }) };
    });
    const verdicts = (Object.keys(VERDICTS) as Verdict[])
      .filter((verdict) => summary.verdicts[verdict] > 0)
      .map((verdict) => [VERDICTS[verdict], summary.verdicts[verdict]] as const);
    return reportText({ runs, many: { verdicts, lines, leftOut: this.#leftOut(summary, runs.length) }, madeMs });
  }

  #leftOut({ verdicts, interrupted, gone }: Summary, sections: number): string[] {
    const sentence = (n: number, what: string) => n > 0 ? [`${count(n)} ${n === 1 ? "history" : "histories"} ${what}.`] : [];
    const bad = verdicts.nondeterminism + verdicts.failed + verdicts.unreadable;
    return [
      ...(interrupted ? ["The replay was interrupted: histories after these were not looked at."] : []),
      ...sentence(gone, "were gone before they were read"),
      ...sentence(bad - this.#bad.length, "that do not replay are not listed"),
      ...sentence(verdicts.ok - this.#ok.length, "that replay are not listed"),
      ...sentence(
        this.#without + this.#kept.length - sections,
        "that do not replay have no section: there are too many for one file",
      ),
    ];
  }

  #line(line: ReplayLine, run: ReportedRun | undefined): ReportedLine {
    const { verdict, workflowType: type, workflowId: id, events, error } = line;
    // What the code threw may hold values; of a redacted history it holds none.
    const text = verdict !== "failed" || this.#options.redaction === undefined
      ? error?.sentence ?? error?.message ?? ""
      : run?.problem?.message ?? run?.notReplayed ?? "The code fails where the run went on.";
    return { source: historyLabel(line), verdict: VERDICTS[verdict], type, id, events, text };
  }

  async #run({ line, history }: Kept): Promise<ReportedRun> {
    const { realm, strict, redaction } = this.#options;
    const common = { source: historyLabel(line), excerpt: (location: string) => this.#excerpt(location) };
    if (redaction === undefined) {
      return await reportedRun({ ...common, history, realm, strict, values: "Values are as they were recorded." });
    }
    const { numbers = false, keep = [], rules } = redaction;
    const values = redactedText(numbers, keep.length, rules !== undefined);
    const redacted = await this.#redacted(history, redaction);
    if (redacted !== undefined) {
      return await reportedRun({ ...common, history: { ...history, bytes: redacted }, realm, strict, values });
    }
    const { history: bytes } = await redact(history.bytes, redaction);
    const run = await reportedRun({
      ...common,
      history: { ...history, bytes: bytes! },
      values,
      notReplayed: "What the code did is left out: it depends on values that are replaced here. A report with values has it.",
    });
    return { ...run, verdict: VERDICTS[line.verdict], ...this.#withoutReplay(line) };
  }

  /** Undefined where the code would go another way. */
  async #redacted({ bytes, workflowId }: HistoryFile, redaction: RedactOptions): Promise<Uint8Array | undefined> {
    try {
      // Texts need consent, and there is no user to give it here: they are not looked for.
      return (await redact(bytes, { ...redaction, realm: this.#options.realm, workflowId, signal: AbortSignal.abort() })).history;
    } catch (e) {
      if (e instanceof RedactionError) return undefined;
      throw e;
    }
  }

  /** What the lines of a replay say, which have no values. */
  #withoutReplay({ verdict, error }: ReplayLine): Pick<ReportedRun, "problem" | "code"> {
    if (error === undefined) return { problem: undefined, code: undefined };
    const { message, sentence, eventId, expected, actual, location } = error;
    const isDivergence = verdict === "nondeterminism";
    const diffs = expected === "" && actual === "" ? [] : [{ field: "step", expected, actual }];
    const said = isDivergence ? sentence ?? message : "The code fails here. What it threw is left out: it may hold values.";
    const problem = { message: said, position: eventId, eventId, expected, actual, diffs, location, isDivergence };
    return { problem, code: location === "" ? undefined : this.#excerpt(location) };
  }

  /** From the disk, where the line's file is there and is code. */
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
