// Copies of values for the debugger: long maps and sets are cut by their number of items and by the
// size of their text, and the cut states how many are missing.
import assert from "node:assert/strict";
import { test } from "node:test";
import { copiedText } from "../../../ts/executor/program/copied_value.ts";

const itemsIn = (value: unknown, limit = 10_000) => {
  const { text, cut } = copiedText(value, limit);
  return { items: Object.values(JSON.parse(text) as object)[0] as unknown[], cut };
};

test("a set of up to 50 items is copied whole, a longer one up to the 50th", () => {
  const whole = itemsIn(new Set(Array.from({ length: 50 }, (_, i) => i)));
  assert.deepEqual([whole.items.length, whole.cut], [50, false]);
  const longer = itemsIn(new Set(Array.from({ length: 53 }, (_, i) => i)));
  assert.deepEqual([longer.items.slice(49), longer.cut], [[49, "<3 more>"], true]);
});

test("fields without a value are omitted", () => {
  assert.equal(copiedText({ none: undefined, one: 1 }, 1000).text, '{"one":1}');
});

test("a map of long values is cut by the size of its text, before its 50th entry", () => {
  const { items, cut } = itemsIn(
    new Map(Array.from({ length: 20 }, (_, i) => [i, "x".repeat(90)])),
    500,
  );
  assert.ok(cut);
  assert.ok(items.length < 10, String(items.length));
  assert.equal(items.at(-1), `<${20 - (items.length - 1)} more>`);
});

test("an error has the name that it or its class has set, and otherwise that of its class", () => {
  // As in a minified bundle, in which a class has another name than its errors.
  class A extends Error {}
  Object.defineProperty(A.prototype, "name", { value: "ActivityFailure" });
  class B extends A {}
  class Own extends Error {}
  const named = Object.assign(new Error("m"), { name: "Named" });
  const heads = [new A("m"), new B("m"), new Own("m"), new TypeError("m"), named, new Error("m")]
    .map((error) => Object.keys(JSON.parse(copiedText(error, 1000).text) as object)[0]);
  assert.deepEqual(heads, [
    "<ActivityFailure>",
    "<ActivityFailure>",
    "<Own>",
    "<TypeError>",
    "<Named>",
    "<Error>",
  ]);
});
