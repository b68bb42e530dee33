// Which things a search finds: by name and by what their events say.
import type { RunModel } from "../app/run_model.ts";

/** Indices of the items; undefined: nothing is sought. */
export function search({ items, lines }: RunModel, text: string): ReadonlySet<number> | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === "") return undefined;
  const says = (said: string) => said.toLowerCase().includes(wanted);
  const found = items.filter(({ name, eventIds }) =>
    says(name) || eventIds.some((id) => says(`${lines[id - 1]!.type} ${lines[id - 1]!.summary}`))
  );
  return new Set(found.map(({ index }) => index));
}
