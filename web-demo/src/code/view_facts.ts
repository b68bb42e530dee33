// Facts of lines without recorded lines: only the awaits, from the stacks of their calls. For code
// that was replayed without line probes (a bundle that cannot be split into modules).
import type { OpenAwait, SessionView } from "temporalex/debug";
import type { CodeSet } from "../store/code_set.ts";
import {
  type CodeFacts,
  type FiberBadge,
  type FileFacts,
  type LineAt,
  lineOfSite,
  NO_FACTS,
  type ParkedHere,
} from "./facts.ts";
import { orList } from "./or_list.ts";

export function frameLine(site: string, code: CodeSet): LineAt | undefined {
  return site === "" ? undefined : lineOfSite(site, code);
}

/** The badge of a fiber: "run", or a number in the order of first appearance. */
function badgeOf(fiber: string, order: readonly string[]): FiberBadge | undefined {
  if (order.length < 2) return undefined;
  const at = order.indexOf(fiber);
  return { text: /^run\b/.test(fiber) ? "run" : String(at + 1), title: fiber };
}

/** A receive waits for the messages that it accepts. */
function waitsFor({ kind, label }: OpenAwait, view: SessionView): string {
  if (kind !== "receive" || view.receive === undefined) return label;
  return orList([...view.receive.updates, ...view.receive.signals]) || label;
}

export function factsOfView(view: SessionView | undefined, code: CodeSet): CodeFacts {
  if (view === undefined) return NO_FACTS;
  const parked = new Map<string, Map<number, ParkedHere[]>>();
  const order = [...new Set(view.open.map(({ fiber }) => fiber))];
  let at: LineAt | undefined;
  for (const open of view.open) {
    const place = frameLine(open.site, code);
    if (place === undefined) continue;
    at = place;
    let lines = parked.get(place.path);
    if (lines === undefined) parked.set(place.path, lines = new Map());
    const here: ParkedHere = {
      waitsFor: waitsFor(open, view),
      sinceMs: undefined,
      badge: badgeOf(open.fiber, order),
    };
    lines.set(place.line, [...(lines.get(place.line) ?? []), here]);
  }
  const none: FileFacts = NO_FACTS.file("");
  return {
    file: (path) => ({ ...none, parked: parked.get(path) ?? new Map() }),
    at,
    ran: undefined,
  };
}
