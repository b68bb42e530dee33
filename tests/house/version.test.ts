// runtime: node
// The version that histories show is the package's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { VERSION } from "../../ts/base/version.ts";

test("the version in the code is that of package.json and deno.json", () => {
  for (const file of ["package.json", "deno.json"]) {
    assert.equal(JSON.parse(readFileSync(file, "utf8")).version, VERSION, file);
  }
});
