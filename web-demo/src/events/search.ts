// Which things a search finds: by name, values and failures, and by what their events say.
import type { RunModel } from "../app/run_model.ts";

/** Indices of the items; undefined: nothing is sought. */
export const search = (model: RunModel, text: string): ReadonlySet<number> | undefined =>
  text.trim() === "" ? undefined : model.search(text);
