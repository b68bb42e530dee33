// runtime: node
// Files in an import cycle cannot be understood, tested or loaded separately. There must be no
// cycle at run time; a few files may import each other's types.
import assert from "node:assert/strict";
import { test } from "node:test";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

interface Import {
  readonly to: string;
  readonly types: boolean;
}
type Imports = ReadonlyMap<string, readonly Import[]>;
interface Tool {
  importsOfFiles(folder: string): Imports;
  circles(imports: Imports, withTypes: boolean): string[][];
}

const { importsOfFiles, circles } = await import(
  pathToFileURL(resolve("tools/lib/circles.mjs")).href
) as Tool;

/** Files of a circle that types alone may close. */
const MAX_FILES = 5;

const imports = importsOfFiles("ts");
const formatCircles = (found: readonly string[][]) =>
  found.map((files) => `${files.length} files: ${files.join(" ")}`);

test("no files import each other in a circle at run time", () => {
  assert.ok(imports.size > 400, "the sources are where this test looks");
  assert.deepEqual(formatCircles(circles(imports, false)), []);
});

test(`no circle of imports with types has more than ${MAX_FILES} files`, () => {
  assert.deepEqual(
    formatCircles(circles(imports, true).filter((files) => files.length > MAX_FILES)),
    [],
  );
});

test("circles are found, with and without types", () => {
  const of = (edges: Record<string, readonly string[]>): Imports =>
    new Map(
      Object.entries(edges).map(([from, all]) => [
        from,
        all.map((to) => ({ to: to.replace("~", ""), types: to.startsWith("~") })),
      ]),
    );
  const found = of({ a: ["b", "x"], b: ["c"], c: ["~a", "d"], d: ["e"], e: ["d"], x: ["outside"] });
  assert.deepEqual(circles(found, false), [["d", "e"]]);
  assert.deepEqual(circles(found, true), [["a", "b", "c"], ["d", "e"]]);
  // A long chain does not exhaust the stack.
  const chain = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [`f${i}`, [`f${(i + 1) % 20_000}`]]),
  );
  assert.equal(circles(of(chain), false)[0]?.length, 20_000);
});
