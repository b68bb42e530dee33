// What is said of all histories together: how many of each verdict, and for those that are not ok, which line of which workflow type.
import type { ReplayLine, Verdict } from "./line.ts";
import { parsePlace, type Place } from "./place.ts";

/** Histories that go wrong in the same way, at the same line. */
export interface Group {
  readonly verdict: Verdict;
  readonly workflowType: string;
  /** The line of workflow code; absent when not known. */
  readonly place?: Place;
  /** Number in the core's table of errors; 0 for others. */
  readonly code: number;
  /** Of the first one. */
  readonly message: string;
  /** Of the first one, where code and history part: what the code does, what history has, and what was probably changed. */
  readonly sentence?: string;
  /** Of the first one, where workflow code threw: its frames, nearest first, one per line. */
  readonly stack?: string;
  runs: number;
  /** Ids of the runs, the first few. */
  readonly workflowIds: string[];
  /** The first one. */
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

/** The last line of `--json`, under "summary". */
export interface SummaryLine {
  readonly histories: number;
  readonly verdicts: { readonly [verdict in Verdict]: number };
  /** Histories with warnings. */
  readonly warned: number;
  readonly events: number;
  /** Runs that were gone when their history was asked for. */
  readonly gone: number;
  /** Ctrl-C came before the end. */
  readonly interrupted: boolean;
  readonly ms: number;
  readonly groups: readonly Group[];
}

/** More kinds of trouble than this are counted and not listed: memory stays bounded. */
const MAX_GROUPS = 1000;

/** Runs of a group that are named. */
const MAX_NAMED = 20;

/** A run by its id; a history that does not say it by its file. */
const nameOf = ({ workflowId, file }: ReplayLine): string => workflowId === "" ? file : workflowId;

export class Summary {
  readonly verdicts: { [verdict in Verdict]: number } = { ok: 0, nondeterminism: 0, failed: 0, unreadable: 0 };
  readonly #groups = new Map<string, Group>();
  /** Files of workflow code are named relative to it. */
  readonly folder: string;
  histories = 0;
  warned = 0;
  events = 0;
  gone = 0;
  interrupted = false;

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Counts a line; its group, where it is not ok. */
  add(line: ReplayLine): Group | undefined {
    this.histories++;
    this.verdicts[line.verdict]++;
    this.events += line.events;
    if (line.warnings.length > 0) this.warned++;
    return line.error === undefined ? undefined : this.#group(line, line.error);
  }

  #group(line: ReplayLine, error: NonNullable<ReplayLine["error"]>): Group {
    const { verdict, workflowType, file, workflowId, runId } = line;
    const { code, message, eventId, expected, actual, location } = error;
    const place = parsePlace(location, this.folder);
    // Without a line the message has to say what is the same; an unreadable file is a group of its own.
    const where = place === undefined ? message : `${place.file}:${place.line}`;
    const what = error.shared ?? code;
    const key = JSON.stringify([verdict, workflowType, where, what, verdict === "unreadable" ? [file, line.place] : []]);
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
      example: { file, ...(line.place === undefined ? {} : { place: line.place }), workflowId, runId, eventId, expected, actual },
    };
    if (this.#groups.size < MAX_GROUPS) this.#groups.set(key, group);
    return group;
  }

  /** The largest first. */
  get groups(): readonly Group[] {
    return [...this.#groups.values()].toSorted((a, b) => b.runs - a.runs);
  }

  /** As JSON. */
  line(ms: number): { readonly summary: SummaryLine } {
    const { histories, verdicts, warned, events, gone, interrupted, groups } = this;
    return { summary: { histories, verdicts, warned, events, gone, interrupted, ms, groups } };
  }
}
