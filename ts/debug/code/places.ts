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
        if (point.callPoint !== undefined) {
          const called = places[base + point.callPoint];
          if (called !== undefined) this.#addPredicate(called, number);
        }
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
    this.#points = points;
    this.#ofPoint = places;
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

  #addPredicate({ file, line }: Place, point: number): void {
    const key = `${file} ${line}`;
    const known = this.#predicates.get(key);
    if (known === undefined) this.#predicates.set(key, [point]);
    else known.push(point);
  }

  /**
   * Returns the predicate of the only `condition` that a line calls; undefined if it calls none or
   * several.
   */
  predicateAt({ file, line }: Place): number | undefined {
    const found = this.#predicates.get(`${file} ${line}`) ?? [];
    return found.length === 1 ? found[0] : undefined;
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
