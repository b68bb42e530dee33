// "Did you mean ...?" in messages of the command line.
import { nearestName } from "../../base/nearest_name.ts";

/** " Did you mean X?", or nothing. */
export function didYouMean(text: string, names: readonly string[]): string {
  const name = nearestName(text, names);
  return name === undefined ? "" : `. Did you mean ${name}?`;
}
