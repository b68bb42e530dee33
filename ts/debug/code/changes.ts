// Finds who changed a value: the tasks, lines and fibers that set another value at a path of the
// published state, of the state of a receive, or of a variable.
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import type { SessionData } from "../session_data.ts";
import { countWhile } from "../spans.ts";
import { readPayload, toPlainData } from "../values.ts";
import type { Copies } from "./copies.ts";
import type { Crossings } from "./crossings.ts";
import type { Places } from "./places.ts";
import type { StateChange, StateOf } from "./types.ts";

interface Version {
  readonly at: number;
  readonly point: number;
  readonly lane: number;
  value(): unknown;
}

export class Changes {
  readonly #data: SessionData;
  readonly #lines: LineTrace;
  readonly #places: Places;
  readonly #copies: Copies;
  readonly #crossings: Crossings;
  readonly #versions = new Map<string, readonly Version[]>();

  constructor(
    data: SessionData,
    lines: LineTrace,
    places: Places,
    copies: Copies,
    crossings: Crossings,
  ) {
    this.#data = data;
    this.#lines = lines;
    this.#places = places;
    this.#copies = copies;
    this.#crossings = crossings;
  }

  /** Returns all changes of a path up to an activation, oldest first. */
  of(of: StateOf, path: readonly (string | number)[], at: number): StateChange[] {
    const changes: StateChange[] = [];
    let before: unknown;
    let text = "";
    for (const version of this.#versionsOf(of)) {
      if (version.at > at) break;
      const after = valueAtPath(version.value(), path);
      const now = formatJson(after);
      if (now === text) continue;
      changes.push(this.#change(version, before, after));
      before = after;
      text = now;
    }
    return changes;
  }

  /** Returns the last change. Searches backwards, so a recent change is found at once. */
  last(of: StateOf, path: readonly (string | number)[], at: number): StateChange | undefined {
    const versions = this.#versionsOf(of);
    const valueOf = (index: number) =>
      index < 0 ? undefined : valueAtPath(versions[index]!.value(), path);
    let index = countWhile(versions.length, (i) => versions[i]!.at <= at) - 1;
    let after = valueOf(index);
    for (; index >= 0; index--) {
      const before = valueOf(index - 1);
      if (formatJson(before) !== formatJson(after)) {
        return this.#change(versions[index]!, before, after);
      }
      after = before;
    }
    return undefined;
  }

  #change({ at, point, lane }: Version, before: unknown, after: unknown): StateChange {
    return {
      taskEventId: this.#data.activations[at]?.startedEventId ?? 0,
      place: this.#places.placeOf(point),
      fiber: lane < 0 ? undefined : lane,
      before,
      after,
    };
  }

  #versionsOf(of: StateOf): readonly Version[] {
    const key = typeof of === "string" ? of : `variable ${of.variable}`;
    let versions = this.#versions.get(key);
    if (versions === undefined) this.#versions.set(key, versions = this.#collect(of));
    return versions;
  }

  #collect(of: StateOf): Version[] {
    const { trace, converter } = this.#data;
    if (of === "published") {
      const calls = new Map(
        this.#lines.published.map(([at, point, lane]) => [at, { point, lane }]),
      );
      return trace.published.map(({ from, value }) => ({
        at: from,
        ...(calls.get(from) ?? { point: -1, lane: -1 }),
        value: once(() => toPlainData(readPayload(value, converter))),
      }));
    }
    const copies = of === "accumulator"
      ? this.#lines.states
      : this.#crossings.variables.get(of.variable) ?? [];
    return copies.map(({ at, point, lane, text }) => ({
      at,
      point,
      lane,
      value: () => this.#copies.of(text)?.value,
    }));
  }
}

const formatJson = (value: unknown): string => JSON.stringify(value) ?? "";

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function valueAtPath(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as { readonly [key: string | number]: unknown })[key];
  }
  return at;
}
