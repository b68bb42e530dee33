// What SQL shows of a run in addition to its history: its phase and its published state. Sent with
// a task's completion to engines that store it. Not part of history, and without effect on the run.
import type { Payload } from "../../converter/payload.ts";

/** What a completed task shows of its run. */
export interface RunShown {
  /** Number of awaits of primitives that the run has passed. */
  readonly phase: number;
  /** The published state as JSON; `null` if none or too long; absent if unchanged. */
  readonly state?: string | null;
}

/** How much a run shows: everything, or only its phase, if values are confidential. */
export type Shows = "all" | "phase";

/** Maximum size of a shown state, in bytes of JSON. */
export const MOST_STATE_BYTES = 65_536;

/**
 * The published state as text; `null` if not JSON or too long; undefined if nothing was published.
 */
export function stateText(payload: Payload | undefined): string | null | undefined {
  if (payload === undefined) return undefined;
  const { encoding } = payload.metadata;
  if (payload.data.length > MOST_STATE_BYTES || encoding === undefined) return null;
  const name = utf8.decode(encoding);
  if (name === "binary/null") return "null";
  return name === "json/plain" ? utf8.decode(payload.data) : null;
}

const utf8 = new TextDecoder();
