// Texts of items in a timeline, in addition to their names.
import type { RunItem } from "../../debug/run/types.ts";
import { count, lasting } from "../time.ts";
import type { StripOf } from "./layout.ts";

/** Returns whether the item ended in a way that is drawn in red. */
export const isDrawnRed = ({ status }: RunItem): boolean =>
  status === "failed" || status === "timedOut" || status === "terminated";

/** Returns the opacity of a strip, 0 to 1: darker for more items. */
export const densityOf = ({ items, w }: StripOf): number =>
  Math.min(1, 0.45 + items.length / Math.max(1, w) / 3);

/** Returns the number of failed items of a strip, and its tooltip. */
export function stripFacts(
  items: readonly RunItem[],
): { readonly bad: number; readonly title: string } {
  const [first, last] = [items[0]!, items.at(-1)!];
  const bad = items.filter(isDrawnRed).length;
  const failed = bad > 0 ? `, ${count(bad)} failed` : "";
  const took = lasting((last.endMs ?? last.startMs!) - first.startMs!);
  return { bad, title: `${count(items.length)} in ${took}${failed}: ${namesOf(items)}` };
}

function namesOf(items: readonly RunItem[]): string {
  const names = [...new Set(items.slice(0, 1000).map(({ name }) => name))];
  return names.slice(0, 3).join(", ") + (names.length > 3 ? " and others" : "");
}

/** Shortens a text to `most` characters. */
export const cutTo = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 1)}…`;

/** The tooltip of a bar or a glyph: its end, attempts, duration and events. */
export function barTitle({ name, status, startMs, endMs, attempt, from, to }: RunItem): string {
  const took = startMs !== undefined && endMs !== undefined && endMs > startMs
    ? `, ${lasting(endMs - startMs)}`
    : "";
  const attempts = attempt > 1 ? `, ${attempt} attempts` : "";
  const end = status === "completed" ? "" : `, ${WORDS[status] ?? status}`;
  return `${name}${end}${attempts}${took}, ${
    from === to ? `event ${from}` : `events ${from} to ${to}`
  }`;
}

const WORDS: { readonly [status: string]: string } = { timedOut: "timed out", open: "open" };
