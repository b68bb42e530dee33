// The tree that says which spans are open at a place says what a walk over all of them says.
import { deepStrictEqual } from "node:assert/strict";
import test from "node:test";
import { OpenSpans } from "../../../ts/debug/spans.ts";

/** Numbers that are the same each time. */
function randoms(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

test("the index finds the same open spans as a linear search", () => {
  const random = randoms(7);
  for (let round = 0; round < 200; round++) {
    let from = 0;
    const spans = Array.from({ length: random(40) }, () => {
      from += random(3);
      return { from, to: random(5) === 0 ? Infinity : from + random(12) };
    });
    const open = new OpenSpans(spans.length, (i) => spans[i]!.from, (i) => spans[i]!.to);
    for (let place = -1; place <= from + 13; place++) {
      const walked = spans.flatMap((span, i) => span.from <= place && span.to > place ? [i] : []);
      deepStrictEqual(open.at(place), walked, `round ${round}, place ${place}`);
    }
  }
});

test("an empty span is never open, and an empty list has no open span", () => {
  deepStrictEqual(new OpenSpans(1, () => 3, () => 3).at(3), []);
  deepStrictEqual(new OpenSpans(0, () => 0, () => 0).at(0), []);
});
