// The result of one history.
import type { ReplayVerdict } from "../../../realm/mod.ts";
import type { ChangedValue, LikelyEdit, Repair } from "../../../debug/divergence/types.ts";
import { PayloadCodecError } from "../../../codec/codec.ts";
import { type HistoryFile, HistoryFileError } from "../../../history_files/history_file.ts";
import type { Found } from "./sources/source.ts";

/** "changed": it replays, and --values=error found changed values. */
export type Verdict = "ok" | "changed" | "nondeterminism" | "failed" | "unreadable";

/** A line of `--json`. */
export interface ReplayLine {
  readonly file: string;
  /** Position in a file with several histories: "line 3", "[2]". */
  readonly place?: string;
  readonly workflowType: string;
  /** "" if not known. */
  readonly workflowId: string;
  /** "" if not known. */
  readonly runId: string;
  readonly events: number;
  readonly activations: number;
  readonly verdict: Verdict;
  readonly warnings: readonly {
    readonly code: number;
    readonly message: string;
    readonly eventId: number;
  }[];
  /** With --values: commands whose values differ from the history. */
  readonly changedValues?: readonly ChangedLine[];
  readonly error?: {
    /** Error number of the core; 0 for errors of workflow code and files. */
    readonly code: number;
    readonly message: string;
    /** 0 if not known. */
    readonly eventId: number;
    readonly expected: string;
    readonly actual: string;
    /** Line of workflow code; "" if not known. */
    readonly location: string;
    /** Stack of an error of workflow code: its frames, nearest first, one per line. */
    readonly stack?: string;
    /** For a divergence: the first workflow task that differs, from 1. */
    readonly firstTask?: number;
    /** For a divergence: what the code does, what history has, and the probable change. */
    readonly sentence?: string;
    /** For a divergence: the likely edit, as a kind and as text. */
    readonly edit?: LikelyEdit;
    /** For a divergence: the change with which open runs replay again. */
    readonly repair?: Pick<Repair, "patchId" | "text" | "code" | "changes" | "isReplayed">;
    /** Equal for histories that diverge in the same way. */
    readonly shared?: string;
  };
  /** Milliseconds from reading the history to the verdict, including waits. */
  readonly ms: number;
}

/** A command whose values differ from the history. */
export interface ChangedLine {
  readonly eventId: number;
  /** The step in history: "activity charge". */
  readonly step: string;
  /** Line of workflow code; "" if not known. */
  readonly location: string;
  readonly sentence: string;
  /** `path`: as in the file of --values-rules. */
  readonly differences: readonly {
    readonly path: string;
    readonly history: string;
    readonly code: string;
  }[];
}

const toChangedLine = (
  { eventId, step, site: location, sentence, differences }: ChangedValue,
): ChangedLine => ({
  ...{ eventId, step, location, sentence },
  differences: differences.map(({ path, history, code }) => ({ path, history, code })),
});

/** Returns a warning for each encoding of values that could not be compared. */
function uncomparedWarnings(values: ReplayVerdict["uncomparedValues"]) {
  const byEncoding = new Map<string, { readonly eventId: number; count: number }>();
  for (const { encoding, eventId } of values ?? []) {
    const found = byEncoding.get(encoding) ?? { eventId, count: 0 };
    byEncoding.set(encoding, found);
    found.count++;
  }
  return [...byEncoding].map(([encoding, { eventId, count }]) => ({
    code: 0,
    message: `${count === 1 ? "1 value was" : `${count} values were`} not compared: ` +
      `the encoding is ${encoding}; --codec decodes values`,
    eventId,
  }));
}

const NOWHERE = { code: 0, eventId: 0, expected: "", actual: "", location: "" };

/** Returns the line of a replayed history. */
export function replayLine(
  found: Found,
  history: HistoryFile,
  result: ReplayVerdict,
  ms: number,
  values?: "warn" | "error",
): ReplayLine {
  const changed = (result.changedValues ?? []).map(toChangedLine);
  const notes = history.notes.map((message) => ({ code: 0, message, eventId: 0 }));
  return {
    ...named(found),
    workflowType: history.workflowType,
    workflowId: history.workflowId,
    runId: history.runId,
    events: history.events,
    activations: result.activations,
    verdict: result.verdict === "ok" && values === "error" && changed.length > 0
      ? "changed"
      : result.verdict,
    warnings: [
      ...notes,
      ...result.warnings.map(({ code, message, eventId }) => ({ code, message, eventId })),
      ...uncomparedWarnings(result.uncomparedValues),
    ],
    ...(changed.length > 0 && { changedValues: changed }),
    ...(result.error === undefined ? {} : { error: errorOf(result.error) }),
    ms,
  };
}

function errorOf(error: NonNullable<ReplayVerdict["error"]>) {
  const { code, message, eventId, expected, actual, location, stack, divergence } = error;
  const known = {
    code,
    message,
    eventId,
    expected,
    actual,
    location,
    ...(stack === undefined ? {} : { stack }),
  };
  if (divergence === undefined) return known;
  const { firstTask, sentence, edit, repair, key: shared } = divergence;
  if (repair === undefined) return { ...known, firstTask, sentence, edit, shared };
  const { patchId, text, code: lines, changes, isReplayed = false } = repair;
  const shown = {
    patchId,
    text,
    code: lines,
    ...(changes === undefined ? {} : { changes }),
    isReplayed,
  };
  return { ...known, firstTask, sentence, edit, repair: shown, shared };
}

/** Returns the line of a history that was not replayed because of `thrown`. */
export function brokenLine(found: Found, thrown: unknown, ms: number): ReplayLine {
  const { code, message } = thrown as Error & { code?: string | number };
  const unreadable = thrown instanceof HistoryFileError || thrown instanceof PayloadCodecError;
  return {
    ...named(found),
    workflowType: "",
    workflowId: "",
    runId: "",
    events: 0,
    activations: 0,
    warnings: [],
    // Without both, the realm has no further information.
    verdict: unreadable || code !== undefined ? "unreadable" : "failed",
    error: {
      ...NOWHERE,
      message: unreadable || code === undefined ? message : fileProblem(code, message),
    },
    ms,
  };
}

const named = ({ file, place }: Found) => ({ file, ...(place === "" ? {} : { place }) });

/** `code`: of the file system, or of a service. */
function fileProblem(code: string | number, message: string): string {
  if (code === "ENOENT") return "no such file";
  if (typeof code === "number") return `the history cannot be read: ${message}`;
  return code === "EISDIR" ? "this is a folder, not a file" : `the file cannot be read: ${message}`;
}
