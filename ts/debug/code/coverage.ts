// Counts how often lines have run up to a position: deltas per activation, and a cumulative sum
// every EVERY activations, so that the cost of a view does not depend on the position.
import type { LineTrace } from "../../executor/tasks/line_records.ts";
import { countWhile } from "../spans.ts";
import type { Places } from "./places.ts";
import type { LineCounts, Place } from "./types.ts";

/** Number of activations between two sums. */
const EVERY = 128;

export class Coverage {
  readonly #hits: LineTrace["hits"];
  readonly #ends: LineTrace["hitEnds"];
  readonly #places: Places;
  /** Hits of all points before activation i * EVERY. */
  readonly #sums: Uint32Array[] = [];
  /** By point: the activations in which it ran, ascending. */
  readonly #runs = new Map<number, number[]>();

  constructor({ hits, hitEnds }: LineTrace, places: Places) {
    this.#hits = hits;
    this.#ends = hitEnds;
    this.#places = places;
    const sum = new Uint32Array(places.pointCount);
    hitEnds.forEach((end, at) => {
      if (at % EVERY === 0) this.#sums.push(sum.slice());
      for (let i = this.#begin(at); i < end; i += 3) {
        const point = hits[i]!;
        sum[point]! += hits[i + 2]!;
        let runs = this.#runs.get(point);
        if (runs === undefined) this.#runs.set(point, runs = []);
        if (runs.at(-1) !== at) runs.push(at);
      }
    });
  }

  #begin(at: number): number {
    return at === 0 ? 0 : this.#ends[at - 1]!;
  }

  /** `at`: the last executed activation (-1: none); `first`: the first of its task. */
  counts(file: number, first: number, at: number): LineCounts {
    const points = this.#places.counted[file];
    if (points === undefined) return { hits: new Uint32Array(0), inTask: new Uint32Array(0) };
    const all = this.#upTo(at);
    const before = this.#upTo(first - 1);
    const hits = new Uint32Array(points.length), inTask = new Uint32Array(points.length);
    points.forEach((point, line) => {
      if (point < 0) return;
      hits[line] = all[point]!;
      inTask[line] = all[point]! - before[point]!;
    });
    return { hits, inTask };
  }

  #upTo(at: number): Uint32Array {
    if (at < 0) return new Uint32Array(this.#places.pointCount);
    const last = Math.min(at, this.#ends.length - 1);
    const base = Math.floor(last / EVERY);
    const sum = this.#sums[base]?.slice() ?? new Uint32Array(this.#places.pointCount);
    const end = this.#ends[last] ?? 0;
    for (let i = this.#begin(base * EVERY); i < end; i += 3) {
      sum[this.#hits[i]!]! += this.#hits[i + 2]!;
    }
    return sum;
  }

  /** Returns the activations in which a line ran, ascending. */
  runsOf({ file, line }: Place): readonly number[] {
    const point = this.#places.counted[file]?.[line] ?? -1;
    return this.#runs.get(point) ?? [];
  }

  /** Returns the first point of a fiber in an activation. */
  firstPointOf(lane: number, at: number): number {
    const end = this.#ends[at] ?? 0;
    for (let i = this.#begin(at); i < end; i += 3) {
      if (this.#hits[i + 1] === lane) return this.#hits[i]!;
    }
    return -1;
  }

  /**
   * Returns the last activation before another one in which a line ran, or else the first after it.
   */
  next(place: Place, at: number): number | undefined {
    const runs = this.runsOf(place);
    return runs[countWhile(runs.length, (i) => runs[i]! <= at)];
  }

  previous(place: Place, at: number): number | undefined {
    const runs = this.runsOf(place);
    return runs[countWhile(runs.length, (i) => runs[i]! < at) - 1];
  }
}
