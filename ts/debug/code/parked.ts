// The awaits that are open at a position, each with what it waits for.
import type { AwaitRecord, LineTrace } from "../../executor/tasks/line_records.ts";
import type { SessionData } from "../session_data.ts";
import type { OpenSpans } from "../spans.ts";
import { openAt, type OpenAwait } from "../view.ts";
import type { Places } from "./places.ts";
import type { Parked, Place } from "./types.ts";

interface OpenWait extends OpenAwait {
  readonly index: number;
}

/** What awaits are looked up in. */
export interface ParkedIn {
  readonly data: SessionData;
  readonly lines: LineTrace;
  readonly places: Places;
  /** The awaits of `lines`. */
  readonly open: OpenSpans;
}

/** `at`: the last executed activation. Innermost awaits come first. */
export function parkedAt(
  { data, lines, places, open }: ParkedIn,
  at: number,
  position: number,
): Parked[] {
  const waits = openAt(data, at, position) as OpenWait[];
  const awaits = open.at(at).map((i) => lines.awaits[i]!);
  const waitsOf = new Map<AwaitRecord, OpenWait[]>(awaits.map((each) => [each, []]));
  const left = new Set(waits);
  const give = (to: AwaitRecord, wait: OpenWait) => {
    waitsOf.get(to)!.push(wait);
    left.delete(wait);
  };
  for (const each of awaits) {
    for (const wait of waits) if (wait.index === each.wait && left.has(wait)) give(each, wait);
  }
  // Promise.all or a helper: the await is on the line that called the API, or is the innermost of
  // its fiber.
  for (const wait of [...left]) {
    const lane = lines.waitLanes[wait.index] ?? -1;
    const place = places.ofSite(wait.site);
    const own = awaits.filter((each) => each.lane === lane && each.wait < 0);
    const sameLine = own.find((each) => isSame(places.placeOf(each.point), place));
    const to = sameLine ?? own[0];
    if (to !== undefined) give(to, wait);
  }
  const parked = awaits.map((each) => ofAwait(data, lines, places, each, waitsOf.get(each)!));
  const withAwait = new Set(parked.map(({ fiber }) => fiber));
  // A fiber without a known await in user code (a returned promise, a loop over an async iterator,
  // a package).
  const others = new Map<number, OpenWait[]>();
  for (const wait of left) {
    const fiber = lines.waitLanes[wait.index] ?? -1;
    if (!withAwait.has(fiber < 0 ? undefined : fiber)) {
      others.set(fiber, [...others.get(fiber) ?? [], wait]);
    }
  }
  for (const [fiber, own] of others) parked.push(ofWaits(data, lines, places, own, fiber));
  const busy = new Set(parked.filter(({ kind }) => kind !== "other").map(({ fiber }) => fiber));
  return parked.map((each) =>
    each.kind === "other" && busy.has(each.fiber) ? { ...each, isOuter: true } : each
  );
}

const isSame = (a: Place | undefined, b: Place | undefined): boolean =>
  a !== undefined && b !== undefined && a.file === b.file && a.line === b.line;

function since(data: SessionData, at: number): Pick<Parked, "since" | "sinceMs"> {
  const { startedEventId = 0, timeMs = 0 } = data.activations[at] ?? {};
  return { since: startedEventId, sinceMs: timeMs };
}

function ofAwait(
  data: SessionData,
  lines: LineTrace,
  places: Places,
  each: AwaitRecord,
  waits: readonly OpenWait[],
): Parked {
  const { lane, point, from } = each;
  const name = places.point(point)?.name ?? "";
  const [first] = waits;
  const timers = waits.flatMap(({ firesAtMs }) => firesAtMs ?? []);
  return {
    fiber: lane < 0 ? undefined : lane,
    fiberName: lines.lanes[lane]?.name ?? "",
    place: places.placeOf(point),
    kind: first?.kind ?? "other",
    label: first === undefined ? (name === "" ? "a promise" : name) : formatWaits(waits),
    isOuter: false,
    eventId: first?.eventId,
    ...since(data, from),
    firesAtMs: timers.length === 0 ? undefined : Math.min(...timers),
    endedBy: waits.find(({ endedBy }) => endedBy !== undefined)?.endedBy,
    wokenBy: first === undefined
      ? `the end of ${name === "" ? "a promise" : `${name}()`}`
      : wokenBy(waits),
  };
}

/** Returns the waits of one fiber. */
function ofWaits(
  data: SessionData,
  lines: LineTrace,
  places: Places,
  waits: readonly OpenWait[],
  lane: number,
): Parked {
  const first = waits[0]!;
  const from = data.trace.waits[first.index]?.from ?? 0;
  const timers = waits.flatMap(({ firesAtMs }) => firesAtMs ?? []);
  return {
    fiber: lane < 0 ? undefined : lane,
    fiberName: lines.lanes[lane]?.name ?? first.fiber,
    place: places.ofSite(first.site),
    kind: first.kind,
    label: formatWaits(waits),
    isOuter: false,
    eventId: first.eventId,
    ...since(data, from),
    firesAtMs: timers.length === 0 ? undefined : Math.min(...timers),
    endedBy: waits.find(({ endedBy }) => endedBy !== undefined)?.endedBy,
    wokenBy: wokenBy(waits),
  };
}

/** A select names its timers itself. */
function formatWaits(all: readonly OpenWait[]): string {
  const waits = all.some(({ kind }) => kind === "select")
    ? all.filter(({ kind }) => kind !== "selectTimer")
    : all;
  const counts = new Map<string, number>();
  for (const { label } of waits) counts.set(label, (counts.get(label) ?? 0) + 1);
  return [...counts].map(([label, count]) => count === 1 ? label : `${count} × ${label}`).join(
    ", ",
  );
}

/** Returns what would wake it, one part for each wait. */
function wokenBy(waits: readonly OpenWait[]): string {
  return [...new Set(waits.map(describeEnd))].join(", ");
}

function describeEnd({ kind, label }: OpenWait): string {
  switch (kind) {
    case "timer":
    case "selectTimer":
    case "receiveTimeout":
      return "a timer";
    case "activity":
    case "localActivity":
      return `the result of ${label}`;
    case "transact":
      return `the commit of the workflow task, with ${label}`;
    case "childStart":
      // "start of child workflow ..."
      return `the ${label}`;
    case "nexusStart":
      return `the start of ${label}`;
    case "childWorkflow":
    case "nexusOperation":
      return `the end of ${label}`;
    case "externalSignal":
    case "externalCancel":
      return `the delivery of ${label}`;
    case "signal":
      return /^signal/.test(label) ? label : `a signal (${label})`;
    case "receive":
      return "a message that it takes";
    case "condition":
      return "a change that makes its condition true";
    case "select":
      return "one of its arms";
    case "children":
      return `the end of ${label}`;
    case "state":
      return "the end of the running handler";
  }
}
