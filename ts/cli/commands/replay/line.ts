// What is said of one history.
import type { ReplayVerdict } from "../../../realm/mod.ts";
import type { LikelyEdit, Repair } from "../../../debug/divergence/types.ts";
import { PayloadCodecError } from "../../../codec/codec.ts";
import { type HistoryFile, HistoryFileError } from "../../../history_files/history_file.ts";
import type { Found } from "./sources/source.ts";

export type Verdict = "ok" | "nondeterminism" | "failed" | "unreadable";

/** A line of `--json`. */
export interface ReplayLine {
  readonly file: string;
  /** Where in a file with several histories: "line 3", "[2]". */
  readonly place?: string;
  readonly workflowType: string;
  /** "" when the history does not say. */
  readonly workflowId: string;
  /** "" when the history does not say. */
  readonly runId: string;
  readonly events: number;
  readonly activations: number;
  readonly verdict: Verdict;
  readonly warnings: readonly { readonly code: number; readonly message: string; readonly eventId: number }[];
  readonly error?: {
    /** Number in the core's table of errors; 0 for errors of workflow code and of files. */
    readonly code: number;
    readonly message: string;
    /** 0 when not known. */
    readonly eventId: number;
    readonly expected: string;
    readonly actual: string;
    /** The line of workflow code, "" when not known. */
    readonly location: string;
    /** Of an error that workflow code threw: the frames of workflow code, nearest first, one per line. */
    readonly stack?: string;
    /** Of a divergence: the first workflow task that differs, from 1. */
    readonly firstTask?: number;
    /** Of a divergence: what the code does there, what history has, and what was probably changed. */
    readonly sentence?: string;
    /** Of a divergence: the likely edit, as a kind and in words. */
    readonly edit?: LikelyEdit;
    /** Of a divergence: what makes open runs replay again. */
    readonly repair?: Pick<Repair, "patchId" | "text" | "code" | "changes">;
    /** The same for histories that diverge in the same way. */
    readonly shared?: string;
  };
  /** From the reading of the history to the verdict, with the time that it waited for others. */
  readonly ms: number;
}

const NOWHERE = { code: 0, eventId: 0, expected: "", actual: "", location: "" };

/** The line of a history that was replayed. */
export function replayLine(found: Found, history: HistoryFile, result: ReplayVerdict, ms: number): ReplayLine {
  const notes = history.notes.map((message) => ({ code: 0, message, eventId: 0 }));
  return {
    ...named(found),
    workflowType: history.workflowType,
    workflowId: history.workflowId,
    runId: history.runId,
    events: history.events,
    activations: result.activations,
    verdict: result.verdict,
    warnings: [...notes, ...result.warnings.map(({ code, message, eventId }) => ({ code, message, eventId }))],
    ...(result.error === undefined ? {} : { error: errorOf(result.error) }),
    ms,
  };
}

function errorOf(error: NonNullable<ReplayVerdict["error"]>) {
  const { code, message, eventId, expected, actual, location, stack, divergence } = error;
  const known = { code, message, eventId, expected, actual, location, ...(stack === undefined ? {} : { stack }) };
  if (divergence === undefined) return known;
  const { firstTask, sentence, edit, repair, key: shared } = divergence;
  if (repair === undefined) return { ...known, firstTask, sentence, edit, shared };
  const { patchId, text, code: lines, changes } = repair;
  const shown = { patchId, text, code: lines, ...(changes === undefined ? {} : { changes }) };
  return { ...known, firstTask, sentence, edit, repair: shown, shared };
}

/** The line of a history that was not replayed because of `thrown`. */
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
    // Where there is neither, the realm could say no more than this.
    verdict: unreadable || code !== undefined ? "unreadable" : "failed",
    error: { ...NOWHERE, message: unreadable || code === undefined ? message : fileProblem(code, message) },
    ms,
  };
}

const named = ({ file, place }: Found) => ({ file, ...(place === "" ? {} : { place }) });

/** `code`: of the file system, or of a service. */
function fileProblem(code: string | number, message: string): string {
  if (code === "ENOENT") return "there is no such file";
  if (typeof code === "number") return `the history cannot be read: ${message}`;
  return code === "EISDIR" ? "this is a folder, not a file" : `the file cannot be read: ${message}`;
}
