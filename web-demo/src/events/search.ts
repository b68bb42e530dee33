// Searches items by name, values, failures, the content of their events, and event numbers.
import type { RunModel } from "../store/run_model.ts";

/** Indexes of the items; undefined without a search. */
export function search(model: RunModel, text: string): ReadonlySet<number> | undefined {
  if (text.trim() === "") return undefined;
  const found = model.search(text);
  const event = findEventNumber(model, text);
  const item = event === undefined ? undefined : model.itemOf(event);
  return item === undefined ? found : new Set([...found, item.index]);
}

/** The event that a search names: "49", "51,200" or "#49". */
export function findEventNumber({ lines }: RunModel, text: string): number | undefined {
  const event = /^#?\d[\d,]*$/.test(text.trim()) ? Number(text.replaceAll(/\D/g, "")) : 0;
  return event >= 1 && event <= lines.length ? event : undefined;
}
