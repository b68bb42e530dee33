// runtime: node
// Every part of the design document has a row, and every row names tests that exist, or says why
// the part is not here.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import * as tables from "./database_constructs.ts";

/** By table: what the document has. */
const PARTS: { readonly [table in keyof typeof tables]: number } = {
  CONSTRUCTS: 13,
  EXAMPLES: 9,
  TRAITS: 8,
  RESULTS_AND_EVENTS: 9,
  TABLES: 5,
  REDUCERS: 11,
  STATES_AND_GROUPS: 8,
  IN_THE_DEBUGGER: 9,
};

for (const [name, rows] of Object.entries(tables)) {
  test(`${name}: each part has a test that exists, or a reason`, () => {
    assert.equal(rows.length, PARTS[name as keyof typeof tables]);
    assert.equal(new Set(rows.map(({ part }) => part)).size, rows.length, "a part is listed twice");
    for (const { part, tests = [], missing } of rows) {
      assert.ok(tests.length > 0 !== (missing !== undefined), `${part}: tests or a reason`);
      for (const [file, title] of tests) {
        const text = readFileSync(join(process.cwd(), file), "utf8");
        assert.ok(text.includes(`"${title}"`), `${part}: ${file} has no test "${title}"`);
      }
    }
  });
}
