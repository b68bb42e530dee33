// Converts recorded lines of a session (temporalex/debug: `session.code`) for the code pane.
import type {
  ChangedValue,
  CopiedValue,
  Crossing,
  Parked,
  SessionCode,
  SessionView,
} from "temporalex/debug";
import { lineOfValue } from "../../../ts/run_view/value_text.ts";
import type { OpenRun } from "../store/state.ts";
import type { CodeSet } from "../store/code_set.ts";
import {
  type CodeFacts,
  type FiberBadge,
  type FileFacts,
  type LineAt,
  lineOfSite,
  type LineValue,
  NO_FACTS,
  type ParkedHere,
  pathInSet,
} from "./facts.ts";
import { orList } from "./or_list.ts";

/** The paths of the session's files in a code set, by index. */
const kept = new WeakMap<
  SessionCode,
  { readonly code: CodeSet; readonly paths: readonly (string | undefined)[] }
>();

export function pathsOf(known: SessionCode, code: CodeSet): readonly (string | undefined)[] {
  let found = kept.get(known);
  if (found?.code !== code) {
    const exact = (name: string) => code.files.find(({ path }) => path === name)?.path;
    found = {
      code,
      paths: known.files.map(({ name, url }) => exact(name) ?? pathInSet(decoded(url), code)),
    };
    kept.set(known, found);
  }
  return found.paths;
}

function decoded(url: string): string {
  try {
    return decodeURIComponent(url);
  } catch {
    return url;
  }
}

/**
 * The session's place for a line of the open code; undefined if the session does not know the file.
 */
export function placeIn(
  known: SessionCode,
  code: CodeSet,
  { path, line }: LineAt,
): { readonly file: number; readonly line: number } | undefined {
  const file = pathsOf(known, code).indexOf(path);
  return file < 0 ? undefined : { file, line };
}

const badges = new WeakMap<SessionCode, ReadonlyMap<number, FiberBadge>>();

/**
 * Names of fibers for badges: "run" or a number. Empty if no other fiber lives longer than one
 * task: then badges would not help.
 */
export function fiberBadges(known: SessionCode): ReadonlyMap<number, FiberBadge> {
  let found = badges.get(known);
  if (found === undefined) {
    const long = known.fibers.filter(({ kind, from, to }) =>
      kind === "run" || to === undefined || to > from
    );
    let number = 0;
    const named = long.map(({ id, kind, name }) =>
      [id, { text: kind === "run" ? "run" : String(++number), title: name }] as const
    );
    badges.set(known, found = new Map(named.length > 1 ? named : []));
  }
  return found;
}

/** Undefined if the fiber has no badge. */
export const badgeOf = (known: SessionCode, id: number | undefined): FiberBadge | undefined =>
  id === undefined ? undefined : fiberBadges(known).get(id);

export function factsOfSession(
  known: SessionCode,
  view: SessionView,
  code: CodeSet,
  changed: readonly ChangedValue[],
): CodeFacts {
  const paths = pathsOf(known, code);
  const standing = known.parked(view.position).filter(({ isOuter }) => !isOuter);
  const at = standing.filter(({ place }) => place !== undefined && paths[place.file] !== undefined)
    .toSorted((a, b) => b.since - a.since)[0]?.place;
  const files = new Map<string, FileFacts>();
  const counted = known.files.flatMap((file, i) =>
    paths[i] === undefined ? [] : [{ file, hits: known.counts(i, view.position).hits }]
  );
  let ran = 0;
  let of = 0;
  for (const { file, hits } of counted) {
    of += file.executable.length;
    for (const line of file.executable) if (hits[line]! > 0) ran++;
  }
  return {
    file: (path) => {
      const index = paths.indexOf(path);
      if (index < 0) return NO_FACTS.file(path);
      let facts = files.get(path);
      if (facts === undefined) {
        files.set(
          path,
          facts = fileFacts(known, view, index, standing, changedLines(changed, path, code)),
        );
      }
      return facts;
    },
    at: at === undefined ? undefined : { path: paths[at.file]!, line: at.line },
    ran: { lines: ran, of },
  };
}

/** Changed values of one file, in order. */
const changedLines = (changed: readonly ChangedValue[], path: string, code: CodeSet) =>
  changed.flatMap((one) => {
    const at = lineOfSite(one.site, code);
    return at?.path === path ? [{ ...one, line: at.line }] : [];
  });

function fileFacts(
  known: SessionCode,
  view: SessionView,
  index: number,
  standing: readonly Parked[],
  changed: ReturnType<typeof changedLines>,
): FileFacts {
  const { hits } = known.counts(index, view.position);
  const executable = new Set(known.files[index]!.executable);
  const parked = new Map<number, ParkedHere[]>();
  for (const one of standing.toSorted((a, b) => a.since - b.since)) {
    if (one.place?.file !== index) continue;
    const here: ParkedHere = {
      waitsFor: waitsFor(one, view),
      sinceMs: one.sinceMs,
      badge: badgeOf(known, one.fiber),
    };
    parked.set(one.place.line, [...(parked.get(one.place.line) ?? []), here]);
  }
  const values = new Map<number, LineValue[]>();
  const signals = signalsOf(view);
  const current = view.published !== undefined && "value" in view.published
    ? JSON.stringify(view.published.value)
    : undefined;
  for (const crossing of known.crossings(view.position, index)) {
    const { line } = crossing.place;
    const one = lineValue(crossing, known, signals, current);
    const all = values.get(line);
    if (all === undefined) values.set(line, [one]);
    else all.push(one);
  }
  for (const { line, differences, startedEventId: eventId } of changed) {
    if (eventId > view.position) continue;
    const text = differences.length === 1
      ? differences[0]!.history
      : `${differences.length} other values`;
    const value = differences.length === 1
      ? undefined
      : Object.fromEntries(differences.map(({ field, history }) => [field, history]));
    // Only the newest: a loop has one for each iteration.
    const others = (values.get(line) ?? []).filter(({ kind }) => kind !== "changed");
    const isNew = eventId === view.task?.eventId;
    values.set(line, [...others, {
      ...{ kind: "changed", name: "history", text, value, before: undefined },
      ...{ isOverwritten: false, badge: undefined, eventId, isNew },
    }]);
  }
  for (const [line, all] of values) {
    // A wait without a result is less useful than other values of the line.
    const said = all.filter(({ kind, value }) => kind !== "result" || value !== undefined);
    values.set(line, (said.length === 0 ? all : said).sort((a, b) => rank(a) - rank(b)));
  }
  return {
    hits: (line) => hits[line] ?? 0,
    canRun: (line) => executable.has(line),
    values: (line) => values.get(line) ?? NO_VALUES,
    parked,
  };
}

/**
 * Names of the signals so far. Allocates nothing per signal: this runs at each step, and a long run
 * has thousands of signals.
 */
function signalsOf({ messages }: SessionView): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { kind, name } of messages) if (kind === "signal") names.add(name);
  return names;
}

const NO_VALUES: readonly LineValue[] = [];

/** Order of the values of one line. */
const RANKS: readonly string[] = [
  "changed",
  "refused",
  "failure",
  "result",
  "answer",
  "message",
  "signal",
  "published",
  "local",
  "accumulator",
  "clock",
  "random",
  "log",
  "arguments",
  "operand",
];
const rank = ({ kind, isNew }: LineValue) => RANKS.indexOf(kind) + (isNew ? 0 : 0.5);

/** Characters of a value at the end of a line. */
const ROOM = 64;

function lineValue(
  { kind, name, value, before, fiber, taskEventId, isNew }: Crossing,
  known: SessionCode,
  signals: ReadonlySet<string>,
  current: string | undefined,
): LineValue {
  const old = before === undefined || kind !== "local" || !isNew
    ? ""
    : lineOfValue(before.value ?? before.text, 24);
  return {
    kind: kind === "message" && signals.has(name) ? "signal" : kind,
    name: NAMES[kind] ?? name,
    text: textOf(kind, name, value),
    value: value.value,
    // A line has no room for two long values.
    before: old === "" || old.length > 14 ? undefined : old,
    isOverwritten: kind === "published" && current !== undefined &&
      JSON.stringify(value.value) !== current,
    badge: fiber === undefined || known.fibers[fiber]?.kind === "run"
      ? undefined
      : badgeOf(known, fiber),
    eventId: taskEventId,
    isNew,
  };
}

function textOf(kind: string, name: string, { value, text, cut }: CopiedValue): string {
  if (cut && value === undefined) return text.slice(0, ROOM);
  if ((kind === "message" || kind === "arguments") && Array.isArray(value)) {
    return value.length === 0 ? name : value.map(briefOf).join(", ").slice(0, ROOM);
  }
  if (kind === "clock" && typeof value === "number") return new Date(value).toISOString();
  if (kind === "published" || kind === "answer" || kind === "result") return briefOf(value);
  return lineOfValue(value, kind === "local" ? 44 : ROOM);
}

const NAMES: { readonly [kind: string]: string } = {
  published: "state",
  answer: "",
  message: "",
  result: "",
};

/** A short form of a value: only the values of a small flat object, `open, 1`. */
export function briefOf(value: unknown): string {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const parts = Object.values(value);
    if (
      parts.length > 0 && parts.length <= 4 &&
      parts.every((part) => typeof part !== "object" || part === null)
    ) {
      const text = parts.map((part) => typeof part === "string" ? part : String(part)).join(", ");
      if (text.length <= 40) return text;
    }
  }
  return lineOfValue(value, ROOM);
}

/** A receive waits for the messages that it accepts. */
function waitsFor({ kind, label, wokenBy }: Parked, { receive }: SessionView): string {
  if (kind === "receive" && receive !== undefined) {
    const names = [...receive.updates, ...receive.signals];
    if (names.length > 0) return names.length > 5 ? `${names.length} messages` : orList(names);
  }
  return /^the result of /.test(wokenBy)
    ? wokenBy.replace(/^the result of /, "").replaceAll('"', "")
    : label.replaceAll('"', "");
}

/** What each waiting fiber waits for, and since when. */
export function waitingFibers(
  run: OpenRun,
  view: SessionView,
): readonly {
  readonly badge: string;
  readonly fiber: string;
  readonly waitsFor: string;
  readonly sinceMs: number;
}[] {
  const known = run.session.value?.code;
  if (known === undefined) return [];
  return known.parked(view.position).filter(({ isOuter }) => !isOuter).map((one) => ({
    badge: badgeOf(known, one.fiber)?.text ?? "run",
    fiber: one.fiberName,
    waitsFor: waitsFor(one, view),
    sinceMs: one.sinceMs,
  }));
}
