// Code that cannot run: the line that causes the error if it is known, and the message.
import type { OpenRun } from "../store/state.ts";
import { type LineAt, pathInSet } from "./facts.ts";

export interface Refusal {
  readonly at: LineAt | undefined;
  /** A sentence. */
  readonly text: string;
}

/** Undefined if the code runs, or has not been loaded yet. */
export function findRefusal(run: OpenRun): Refusal | undefined {
  const verdict = run.verdict.value;
  if (verdict.state !== "not parsed" && verdict.state !== "no replay") return undefined;
  const code = run.code.value;
  const place = verdict.state === "not parsed" ? verdict : verdict.at;
  // Served code stays visible while the file on the disk has an error: the lines of the two differ.
  const isInSight = place !== undefined && place.line > 0 && code !== undefined &&
    code.origin !== "command line";
  const path = isInSight ? pathInSet(place.file, code) : undefined;
  return {
    at: path === undefined ? undefined : { path, line: place!.line },
    text: sentenceOf(place?.message ?? messageOf(verdict)),
  };
}

const messageOf = (verdict: OpenRun["verdict"]["value"]): string =>
  "message" in verdict ? verdict.message : "";

/** Removes columns: they are those of the compiled code. */
function sentenceOf(message: string): string {
  const text = message.replace(/(\.[cm]?[jt]sx?:\d+):\d+/g, "$1").trim();
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}
