// What SQL shows of a run beside its history: where it stands, and the state that it has published. It goes with a task's completion to an
// engine that keeps it, is no part of history, and decides nothing.
import type { Payload } from "../../converter/payload.ts";

/** What a completed task shows of its run. */
export interface RunShown {
  /** How many awaits of primitives the run has passed. */
  readonly phase: number;
  /** The published state as JSON; `null` where it is none or too long, absent where it is as it was told before. */
  readonly state?: string | null;
}

/** How much a run shows: all of it, or only its phase, where values are not to be seen. */
export type Shows = "all" | "phase";

/** Longer states are not shown. Bytes of JSON. */
export const MOST_STATE_BYTES = 65_536;

/** The text of a published state; `null` where it is no JSON, or too long; undefined where nothing was published. */
export function stateText(payload: Payload | undefined): string | null | undefined {
  if (payload === undefined) return undefined;
  const { encoding } = payload.metadata;
  if (payload.data.length > MOST_STATE_BYTES || encoding === undefined) return null;
  const name = utf8.decode(encoding);
  if (name === "binary/null") return "null";
  return name === "json/plain" ? utf8.decode(payload.data) : null;
}

const utf8 = new TextDecoder();
