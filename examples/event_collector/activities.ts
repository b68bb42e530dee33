// The activity of the collector: stores a batch of events and returns its size.
import type { CollectedEvent } from "./workflow.ts";

export async function batchInsert(events: readonly CollectedEvent[]): Promise<number> {
  return events.length;
}
