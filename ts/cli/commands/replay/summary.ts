// Summary of all histories: counts by verdict, and failures by workflow type and line.
import type { ChangedLine, ReplayLine, Verdict } from "./line.ts";
import { parsePlace, type Place } from "./place.ts";

/** Histories that fail in the same way at the same line. */
export interface Group {
  readonly verdict: Verdict;
  readonly workflowType: string;
  /** Line of workflow code; undefined if not known. */
  readonly place?: Place;
  /** Error number of the core; 0 for others. */
  readonly code: number;
  /** Message of the first history. */
  readonly message: string;
  /**
   * Divergence of the first history: what the code does, what history has, and the probable change.
   */
  readonly sentence?: string;
  /** Stack of the first error of workflow code: frames, nearest first, one per line. */
  readonly stack?: string;
  runs: number;
  /** Ids of the first few runs. */
  readonly workflowIds: string[];
  /** The first history. */
  readonly example: {
    readonly file: string;
    readonly place?: string;
    readonly workflowId: string;
    readonly runId: string;
    readonly eventId: number;
    readonly expected: string;
    readonly actual: string;
  };
}

/** Histories in which the same command of a line has changed values in the same fields. */
export interface ChangedGroup {
  readonly workflowType: string;
  /** Line of workflow code; undefined if not known. */
  readonly place?: Place;
  /** The step in history: "activity charge". */
  readonly step: string;
  readonly paths: readonly string[];
  /** Of the first history. */
  readonly sentence: string;
  runs: number;
  /** Ids of the first few runs. */
  readonly workflowIds: string[];
  /** The first history. */
  readonly example: Pick<
    Group["example"],
    "file" | "place" | "workflowId" | "runId" | "eventId"
  >;
}

/** Last line of `--json`, under "summary". */
export interface SummaryLine {
  readonly histories: number;
  /** "changed" only with --values. */
  readonly verdicts: { readonly [verdict in Exclude<Verdict, "changed">]: number } & {
    readonly changed?: number;
  };
  /** With --values: histories with changed values, and their groups. */
  readonly changedValues?: {
    readonly histories: number;
    readonly groups: readonly ChangedGroup[];
  };
  /** Number of histories with warnings. */
  readonly warned: number;
  readonly events: number;
  /** Number of runs that were deleted before their history was read. */
  readonly gone: number;
  /** True if Ctrl-C ended the replay. */
  readonly interrupted: boolean;
  readonly ms: number;
  readonly groups: readonly Group[];
}

/** Maximum number of groups, to bound memory; further ones are only counted. */
const MAX_GROUPS = 1000;

/** Maximum number of named runs in a group. */
const MAX_NAMED = 20;

/** The run's id, or the file of a history without one. */
const nameOf = ({ workflowId, file }: ReplayLine): string => workflowId === "" ? file : workflowId;

export class Summary {
  readonly verdicts: { [verdict in Verdict]: number } = {
    ok: 0,
    changed: 0,
    nondeterminism: 0,
    failed: 0,
    unreadable: 0,
  };
  readonly #groups = new Map<string, Group>();
  readonly #changed = new Map<string, ChangedGroup>();
  /** Base folder for names of workflow files. */
  readonly folder: string;
  readonly values: "warn" | "error" | undefined;
  changedHistories = 0;
  histories = 0;
  warned = 0;
  events = 0;
  gone = 0;
  interrupted = false;

  constructor(folder: string, values?: "warn" | "error") {
    this.folder = folder;
    this.values = values;
  }

  /** Counts a line. Returns its group if it diverges, fails or is unreadable. */
  add(line: ReplayLine): Group | undefined {
    this.histories++;
    this.verdicts[line.verdict]++;
    this.events += line.events;
    if (line.warnings.length > 0) this.warned++;
    if (line.changedValues !== undefined) {
      this.changedHistories++;
      for (const changed of line.changedValues) this.#addChanged(line, changed);
    }
    return line.error === undefined ? undefined : this.#group(line, line.error);
  }

  #group(line: ReplayLine, error: NonNullable<ReplayLine["error"]>): Group {
    const { verdict, workflowType, file, workflowId, runId } = line;
    const { code, message, eventId, expected, actual, location } = error;
    const place = parsePlace(location, this.folder);
    // Without a line, equal messages form a group; each unreadable file is a separate group.
    const where = place === undefined ? message : `${place.file}:${place.line}`;
    const what = error.shared ?? code;
    const key = JSON.stringify([
      verdict,
      workflowType,
      where,
      what,
      verdict === "unreadable" ? [file, line.place] : [],
    ]);
    const known = this.#groups.get(key);
    if (known !== undefined) {
      known.runs++;
      if (known.workflowIds.length < MAX_NAMED) known.workflowIds.push(nameOf(line));
      return known;
    }
    const group: Group = {
      verdict,
      workflowType,
      ...(place === undefined ? {} : { place }),
      code,
      message,
      ...(error.sentence === undefined ? {} : { sentence: error.sentence }),
      ...(error.stack === undefined ? {} : { stack: error.stack }),
      runs: 1,
      workflowIds: [nameOf(line)],
      example: {
        file,
        ...(line.place === undefined ? {} : { place: line.place }),
        workflowId,
        runId,
        eventId,
        expected,
        actual,
      },
    };
    if (this.#groups.size < MAX_GROUPS) this.#groups.set(key, group);
    return group;
  }

  #addChanged(line: ReplayLine, { eventId, step, location, sentence, differences }: ChangedLine) {
    const { workflowType, file, workflowId, runId } = line;
    const place = parsePlace(location, this.folder);
    const paths = differences.map(({ path }) => path);
    const key = JSON.stringify([workflowType, place?.file, place?.line, step, paths]);
    const known = this.#changed.get(key);
    if (known !== undefined) {
      known.runs++;
      if (known.workflowIds.length < MAX_NAMED) known.workflowIds.push(nameOf(line));
      return;
    }
    if (this.#changed.size >= MAX_GROUPS) return;
    this.#changed.set(key, {
      workflowType,
      ...(place === undefined ? {} : { place }),
      ...{ step, paths, sentence, runs: 1, workflowIds: [nameOf(line)] },
      example: {
        file,
        ...(line.place === undefined ? {} : { place: line.place }),
        ...{ workflowId, runId, eventId },
      },
    });
  }

  /** Changed values, those of most runs first. */
  get changedGroups(): readonly ChangedGroup[] {
    return [...this.#changed.values()].toSorted((a, b) => b.runs - a.runs);
  }

  /** Largest first. */
  get groups(): readonly Group[] {
    return [...this.#groups.values()].toSorted((a, b) => b.runs - a.runs);
  }

  /** Returns the summary as JSON. */
  line(ms: number): { readonly summary: SummaryLine } {
    const { histories, warned, events, gone, interrupted, groups } = this;
    const { changed, ...others } = this.verdicts;
    const compares = this.values !== undefined;
    return {
      summary: {
        histories,
        verdicts: compares ? { ...others, changed } : others,
        ...{ warned, events, gone, interrupted, ms, groups },
        ...(compares && {
          changedValues: { histories: this.changedHistories, groups: this.changedGroups },
        }),
      },
    };
  }
}
