// Searches items by name, values, failures and the content of their events.
import type { RunModel } from "../store/run_model.ts";

/** Indexes of the items; undefined without a search. */
export const search = (model: RunModel, text: string): ReadonlySet<number> | undefined =>
  text.trim() === "" ? undefined : model.search(text);
