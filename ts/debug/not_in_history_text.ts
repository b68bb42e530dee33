// Formats commands that the history does not have.
import type { NotInHistory } from "./not_in_history.ts";

/**
 * Returns "calls activity charge, which the history does not have", or for several: "... and 2 more
 * commands, which ...".
 */
export function notInHistoryText(all: readonly Pick<NotInHistory, "does">[]): string {
  const more = all.length - 1;
  const others = more === 0 ? "" : ` and issues ${more} more command${more === 1 ? "" : "s"}`;
  return `${all[0]!.does}${others}, which the history does not have`;
}
