// Values formatted on one line, and differences between values.
import { expect, test } from "@playwright/test";
import {
  type DiffRow,
  diffRows,
  isEqualData,
  plainRows,
  shownRows,
} from "../src/inspector/value_diff.ts";
import { formatJson, lineOfArguments, lineOfValue } from "../../ts/run_view/value_text.ts";

const equal = (actual: unknown, wanted: unknown): void => expect(actual).toEqual(wanted);

test("a value is formatted on one line", () => {
  equal(
    lineOfValue({ sku: "BOOK-1", "price in cents": 1900 }),
    '{ sku: "BOOK-1", "price in cents": 1900 }',
  );
  equal(lineOfValue([1, null, undefined, true, [], {}]), "[1, null, nothing, true, [], {}]");
  equal(lineOfValue("a".repeat(100), 10), '"aaaaaaaa…');
  equal(lineOfValue({ a: [1, 2, 3, 4, 5, 6] }, 12), "{ a: [1, 2,…");
  equal(lineOfValue(new Uint8Array(7)), "7 bytes");
  equal(lineOfArguments(["ada", [{ a: 1 }]]), '"ada", [{ a: 1 }]');
});

test("a huge, hostile or endless value is truncated, and only the shown part is read", () => {
  let reads = 0;
  const counted = new Proxy(Array.from({ length: 100_000 }, () => 1), {
    get: (target, key) => {
      reads++;
      return Reflect.get(target, key);
    },
  });
  equal(lineOfValue(counted, 20).length <= 20, true);
  equal(reads < 100, true);
  const endless: Record<string, unknown> = {};
  endless["again"] = endless;
  equal(lineOfValue(endless, 30).endsWith("…"), true);
  equal(formatJson(endless).startsWith("this value cannot be written"), true);
  const thrower = Object.defineProperty({}, "x", {
    enumerable: true,
    get: () => {
      throw new Error("no");
    },
  });
  equal(lineOfValue(thrower), "a value that cannot be shown");
});

const flat = (rows: readonly DiffRow[]): string[] =>
  rows.flatMap(({ path, change, before, after, inside }) => [
    `${change} ${path.join(".")} ${lineOfValue(before)} > ${lineOfValue(after)}`,
    ...flat(inside),
  ]);

test("the changed entries of an object are listed", () => {
  equal(flat(diffRows({ a: 1, b: { c: 1, d: 2 }, e: 5 }, { a: 1, b: { c: 1, d: 3 }, f: 6 })), [
    "same a 1 > 1",
    "changed b { c: 1, d: 2 } > { c: 1, d: 3 }",
    "same b.c 1 > 1",
    "changed b.d 2 > 3",
    "added f nothing > 6",
    "removed e 5 > nothing",
  ]);
  equal(flat(plainRows({ a: [1] })), ["same a [1] > [1]"]);
  equal(flat(plainRows("text")), []);
});

test("an inserted or removed list entry is one row", () => {
  const list = [{ sku: "A" }, { sku: "B" }, { sku: "C" }];
  equal(flat(diffRows(list, [list[0], list[2]])).filter((row) => !row.startsWith("same")), [
    'removed 1 { sku: "B" } > nothing',
  ]);
  equal(flat(diffRows([list[0], list[2]], list)).filter((row) => !row.startsWith("same")), [
    'added 1 nothing > { sku: "B" }',
  ]);
  equal(flat(diffRows(undefined, [])), []);
  equal(flat(diffRows({ a: 1 }, [1])), ["added 0 nothing > 1"]);
});

test("deep equality distinguishes an undefined value from a missing key", () => {
  equal(isEqualData({ a: undefined }, { b: undefined }), false);
  equal(isEqualData([1, { a: [2] }], [1, { a: [2] }]), true);
  equal(isEqualData([], {}), false);
  equal(isEqualData(NaN, NaN), true);
});

test("many unchanged rows are folded; changed rows are not", () => {
  const before = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, i]));
  const rows = shownRows(diffRows(before, { ...before, k150: -1 }), 20);
  equal(rows.filter((shown) => "row" in shown && shown.row.change === "changed").length, 1);
  equal(rows.length < 30, true);
  equal(rows.reduce((n, shown) => n + ("folded" in shown ? shown.folded : 1), 0), 200);
});
