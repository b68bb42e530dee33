// Code that could not be run at all, as the page needs it: the line that is to blame where one is known, and what to say there.
import type { OpenRun } from "../app/state.ts";
import { type LineAt, pathInSet } from "./facts.ts";

export interface Refusal {
  readonly at: LineAt | undefined;
  /** A sentence. */
  readonly text: string;
}

/** Undefined: the code runs, or nobody knows yet. */
export function findRefusal(run: OpenRun): Refusal | undefined {
  const verdict = run.verdict.value;
  if (verdict.state !== "not parsed" && verdict.state !== "no replay") return undefined;
  const code = run.code.value;
  const place = verdict.state === "not parsed" ? verdict : verdict.at;
  // What the command serves stays in sight while the file on the disk is wrong: its lines are others.
  const isInSight = place !== undefined && place.line > 0 && code !== undefined && code.origin !== "command line";
  const path = isInSight ? pathInSet(place.file, code) : undefined;
  return {
    at: path === undefined ? undefined : { path, line: place!.line },
    text: sentenceOf(place?.message ?? messageOf(verdict)),
  };
}

const messageOf = (verdict: OpenRun["verdict"]["value"]): string => "message" in verdict ? verdict.message : "";

/** Columns are those of the code as it is run. */
function sentenceOf(message: string): string {
  const text = message.replace(/(\.[cm]?[jt]sx?:\d+):\d+/g, "$1").trim();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
