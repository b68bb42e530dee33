// runtime: node
// The replay core names the fields of protobuf messages; their numbers are in generated files and in the readers and writers themselves.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

/** A call of the wire readers or writers with a field number, or a check written by hand. */
const BY_NUMBER =
  /\.(?:text|int|int32|flag|get|sub|all|double|uint|nested|message|data|optional|numbers|duration_ms|entry)\(\d+\b|Schema\(&\[\(/;

const walk = (dir: string): string[] =>
  readdirSync(dir).map((name) => join(dir, name)).flatMap((path) => statSync(path).isDirectory() ? walk(path) : [path]);

test("no file of the replay core names a field by its number", () => {
  const found: string[] = [];
  const files = ["core-rs/src/replay", "core-rs/src/history"].flatMap(walk);
  assert.ok(files.length > 20, "the rooms are where this test looks for them");
  for (const file of files) {
    readFileSync(file, "utf8").split("\n").forEach((line, i) => {
      if (BY_NUMBER.test(line)) found.push(`${file}:${i + 1}: ${line.trim()}`);
    });
  }
  assert.deepEqual(found, []);
});

test("the pattern finds what it is for", () => {
  for (
    const line of ["let id = a.text(2);", "w.nested(15, |w| {", "static X: Schema = Schema(&[(1, Text)]);", "w.duration_ms(7, x)"]
  ) {
    assert.match(line, BY_NUMBER);
  }
  for (const line of ["r.bytes(3)", "w.message(own.text())", "self.patches.get(&id)"]) assert.doesNotMatch(line, BY_NUMBER);
});
