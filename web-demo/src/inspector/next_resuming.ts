// Finds the next event that resumes the code where it waits.
import type { OpenAwait } from "temporalex/debug";
import type { RunItem, RunModel } from "../store/run_model.ts";

/** The event that resumes the code, and its item. */
export interface Resuming {
  readonly item: RunItem;
  readonly eventId: number;
  /** True if the event closes the item; false if it starts it, as a message does. */
  readonly ends: boolean;
}

/** Messages: the code processes them whatever it waits for. */
const MESSAGES: ReadonlySet<string> = new Set(["signal", "update", "run"]);

/**
 * Returns undefined if the history has no such event. `open`: what the code waits for at the
 * position.
 */
export function nextResuming(
  model: RunModel,
  open: readonly Pick<OpenAwait, "eventId">[],
  position: number,
): Resuming | undefined {
  const waited = new Set(open.map(({ eventId }) => eventId));
  for (let id = position + 1; id <= model.lines.length; id++) {
    const item = model.itemOf(id);
    if (item === undefined || item.kind === "task") continue;
    if (MESSAGES.has(item.kind) && item.from === id) return { item, eventId: id, ends: false };
    // The start of a child or of a Nexus operation resumes code that waits for it; its end comes
    // later.
    if (item.closedBy === id && item.from < id && waited.has(item.from)) {
      return { item, eventId: id, ends: true };
    }
  }
  return undefined;
}
