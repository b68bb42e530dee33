// Maps places in a replay (probes, stack frames) to files and lines of the user's code.
import type { ProbePoint } from "../../executor/program/line_probe.ts";
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import type { CodeFile, Place } from "./types.ts";

/**
 * A frame ends in "file:line:column" or "file:line:column)". Deno writes evaluated code as "(file,
 * <anonymous>:1:2)".
 */
const FRAME = /(?:^|\()([^()\s][^()]*?)(?:, <anonymous>)?:(\d+):(\d+)\)?$/;

const MAX_LINES = 1_000_000;

/** What can change a `condition`. */
export interface ConditionChanges {
  readonly variables: readonly string[] | undefined;
  /** The first point of the module: handlers of other modules are not in `handlers`. */
  readonly base: number;
  readonly handlers: readonly {
    /** The call of `setHandler`. */
    readonly point: number;
    readonly variables: readonly string[];
    readonly isIndirect: boolean;
    /** The line of the first write. */
    readonly place: Place | undefined;
  }[];
}

/** The user's files, and places in them. */
export class Places {
  readonly files: readonly CodeFile[];
  /**
   * The probe whose hits count for a line: that of its first statement. By file and line; -1: none.
   */
  readonly counted: readonly Int32Array[];
  readonly #points: readonly ProbePoint[];
  readonly #ofPoint: readonly Place[];
  /** Predicates of `condition` by the line of the call. */
  readonly #predicates = new Map<string, number[]>();
  /** Calls of `condition` and of `setHandler` by their lines. */
  readonly #conditions = new Map<string, number[]>();
  readonly #settings = new Map<string, number[]>();
  /** The number of the first point of a point's module. */
  readonly #baseOf: readonly number[];
  readonly #placeOfLine: readonly ((line: number) => Place | undefined)[];
  readonly #ofModule = new Map<string, (line: number) => Place | undefined>();
  readonly #ofSite = new Map<string, Place | undefined>();

  constructor({ modules }: Pick<LineTrace, "modules">) {
    const files: {
      url: string;
      name: string;
      executable: Set<number>;
      counted: Map<number, number>;
      plain: Set<number>;
    }[] = [];
    const fileOf = (url: string): number => {
      const known = files.findIndex((file) => file.url === url);
      if (known >= 0) return known;
      return files.push({
        url,
        name: shortenUrl(url),
        executable: new Set(),
        counted: new Map(),
        plain: new Set(),
      }) - 1;
    };
    const points: ProbePoint[] = [];
    const places: Place[] = [];
    const baseOf: number[] = [];
    const placeOfLine: ((line: number) => Place | undefined)[] = [];
    for (const { url, points: own, origins, sources } of modules) {
      const originals = sources?.map((source) => fileOf(resolveSource(source, url)));
      const file = originals === undefined ? fileOf(url) : -1;
      const placeOf = (line: number): Place | undefined => {
        if (originals === undefined) return { file, line };
        const origin = origins?.[line];
        return origin === null || origin === undefined
          ? undefined
          : { file: originals[origin[0]]!, line: origin[1] };
      };
      this.#ofModule.set(url, placeOf);
      const base = points.length;
      for (const point of own) {
        const found = placeOf(point.line) ?? { file: fileOf(url), line: point.line };
        // Line numbers from a realm are bounded, because they are not trusted.
        const place = found.line > 0 && found.line < MAX_LINES ? found : { ...found, line: 1 };
        const number = points.push(point) - 1;
        places.push(place);
        baseOf.push(base);
        placeOfLine.push(placeOf);
        if (point.condition !== undefined) addAt(this.#conditions, place, number);
        if (/(?:^|\.)setHandler$/.test(point.name)) addAt(this.#settings, place, number);
        // Part of a statement that counts.
        if (point.kind === "test" || point.kind === "catch") continue;
        const { counted, executable, plain } = files[place.file]!;
        executable.add(place.line);
        // A statement counts for its line; an await or a call only if no statement begins there.
        const first = !counted.has(place.line) ||
          (point.kind === "statement" && !plain.has(place.line));
        if (first) counted.set(place.line, number);
        if (point.kind === "statement") plain.add(place.line);
      }
    }
    points.forEach(({ callPoints }, number) => {
      for (const call of callPoints ?? []) {
        const called = places[baseOf[number]! + call];
        if (called !== undefined) addAt(this.#predicates, called, number);
      }
    });
    this.#points = points;
    this.#ofPoint = places;
    this.#baseOf = baseOf;
    this.#placeOfLine = placeOfLine;
    this.files = files.map(({ url, name, executable }, index) => ({
      ...{ index, url, name },
      executable: [...executable].sort((a, b) => a - b),
    }));
    this.counted = files.map(({ counted, executable }) => {
      const lines = new Int32Array(
        [...executable].reduce((most, line) => Math.max(most, line), 0) + 1,
      ).fill(-1);
      for (const [line, point] of counted) lines[line] = point;
      return lines;
    });
  }

  /**
   * Returns the predicate of the only `condition` that a line calls; undefined if it calls none or
   * several.
   */
  predicateAt(place: Place): number | undefined {
    return onlyAt(this.#predicates, place);
  }

  /**
   * Returns what can change the only `condition` that a line calls. Numbers of points are those of
   * this class; the lines are those of the files.
   */
  conditionAt(place: Place): ConditionChanges | undefined {
    const number = onlyAt(this.#conditions, place);
    const known = number === undefined ? undefined : this.#points[number]?.condition;
    if (number === undefined || known === undefined) return undefined;
    const base = this.#baseOf[number]!;
    const placeOf = this.#placeOfLine[number];
    return {
      variables: known.variables,
      base,
      handlers: known.handlers.map(({ point, variables, line, isIndirect }) => ({
        point: base + point,
        variables,
        isIndirect,
        place: line === 0 ? undefined : placeOf?.(line),
      })),
    };
  }

  /** Returns the call of `setHandler` on a line, and its module's first point. */
  settingAt(place: Place): { readonly point: number; readonly base: number } | undefined {
    const point = onlyAt(this.#settings, place);
    return point === undefined ? undefined : { point, base: this.#baseOf[point]! };
  }

  get pointCount(): number {
    return this.#points.length;
  }

  point(number: number): ProbePoint | undefined {
    return this.#points[number];
  }

  placeOf(point: number): Place | undefined {
    return this.#ofPoint[point];
  }

  /**
   * Returns the place of a call site, "function (file:line:column)"; undefined outside of user
   * code.
   */
  ofSite(site: string): Place | undefined {
    if (!this.#ofSite.has(site)) {
      const [, file = "", line] = FRAME.exec(site.split("\n")[0]!) ?? [];
      this.#ofSite.set(site, this.#ofModule.get(file)?.(Number(line)));
    }
    return this.#ofSite.get(site);
  }
}

function addAt(map: Map<string, number[]>, { file, line }: Place, point: number): void {
  const key = `${file} ${line}`;
  const known = map.get(key);
  if (known === undefined) map.set(key, [point]);
  else known.push(point);
}

function onlyAt(map: ReadonlyMap<string, readonly number[]>, { file, line }: Place) {
  const found = map.get(`${file} ${line}`) ?? [];
  return found.length === 1 ? found[0] : undefined;
}

/** Resolves a source of a source map relative to its module. */
function resolveSource(source: string, url: string): string {
  try {
    return new URL(source, url).href;
  } catch {
    return source;
  }
}

/** Returns the path of a file, or the name of a module in a bundle. */
function shortenUrl(url: string): string {
  const [, rest = url] = /^(?:bundle:\/\/\d*\/|file:\/\/)(.*)$/s.exec(url) ?? [];
  try {
    return decodeURIComponent(rest);
  } catch {
    return rest;
  }
}
