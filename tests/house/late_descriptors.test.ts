// runtime: node
// Descriptors are built on first use (ts/messages/descriptors.ts). The library's files for Google's
// well-known types build theirs on import, so ts/messages/well_known.ts replaces those files.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const walk = (dir: string): string[] =>
  readdirSync(dir).map((name) => join(dir, name)).flatMap((path) =>
    statSync(path).isDirectory() ? walk(path) : [path]
  );

/** Imports and re-exports of values of the library's built files. */
const EARLY = /^(?:import|export)\b(?! type\b)[^;"]*"@bufbuild\/protobuf\/(?:wkt|codegenv[12])"/gm;

test("no file imports what builds descriptors at the import", () => {
  const files = walk("ts").filter((file) => file.endsWith(".ts"));
  assert.ok(files.length > 700, `${files.length} files`);
  assert.deepEqual(
    files.flatMap((file) =>
      (readFileSync(file, "utf8").match(EARLY) ?? []).map((found) => `${file}: ${found}`)
    ),
    [],
  );
});

test("such an import is found in each of its forms", () => {
  const found = (text: string) => (text.match(EARLY) ?? []).length;
  assert.equal(found('import { timestampDate } from "@bufbuild/protobuf/wkt";'), 1);
  assert.equal(
    found('import {\n  file_google_protobuf_any,\n  type Any,\n} from "@bufbuild/protobuf/wkt";'),
    1,
  );
  assert.equal(found('export * from "@bufbuild/protobuf/codegenv2";'), 1);
  assert.equal(
    found('import type { Any } from "@bufbuild/protobuf/wkt";\nimport { a } from "./b.ts";'),
    0,
  );
});
