// runtime: node
// The core names the fields of protobuf messages; their numbers are in generated files and in the readers and writers themselves.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

/**
 * A call of the wire readers or writers with a field number, a check written by hand, a declared field with its number, a constant
 * that is one.
 */
const BY_NUMBER = new RegExp(
  [
    /\.(?:text|int|int32|flag|get|sub|all|double|uint|nested|message|data|optional|numbers|duration_ms|entry|slot)\(\d+\b/,
    /\bput_(?:time|message)\(\w+, \d/,
    /Schema\(&\[\(/,
    /(?:^|[{,])\s*\d+ (?:r#)?\w+ (?:str|strs|bytes|encoded|i32|u32s|i64|u32|u64|double|bool|dur|ts|payloads|fields|failure|meta)\b\s*,/,
    /(?:^|[{,])\s*\d+ (?:r#)?\w+ (?:msg|reps|raw|raws)\(/,
    /FIELD\b[^=;]*=\s*\d|\b(?:ActivityEnded|ChildEnded)\([^()]*, \d|field_number: \d/,
  ].map((pattern) => pattern.source).join("|"),
);

const walk = (dir: string): string[] =>
  readdirSync(dir).map((name) => join(dir, name)).flatMap((path) => statSync(path).isDirectory() ? walk(path) : [path]);

test("no file of the core names a field by its number", () => {
  const found: string[] = [];
  const files = ["core-rs/src/replay", "core-rs/src/history", "core-rs/src/engine"].flatMap(walk);
  assert.ok(files.length > 100, "the rooms are where this test looks for them");
  for (const file of files) {
    readFileSync(file, "utf8").split("\n").forEach((line, i) => {
      if (BY_NUMBER.test(line)) found.push(`${file}:${i + 1}: ${line.trim()}`);
    });
  }
  assert.deepEqual(found, []);
});

test("the pattern finds what it is for", () => {
  for (
    const line of [
      "let id = a.text(2);",
      "w.nested(15, |w| {",
      "static X: Schema = Schema(&[(1, Text)]);",
      "w.duration_ms(7, x)",
      "    TimerState: engine::TimerState { 1 timer_id str, started_id i64, }",
      "        timer_id str, 2 started_id i64,",
      "        13 priority raw(PRIORITY),",
      "codec::put_time(w, 2, time);",
      "const HISTORY_FIELD: u32 = 8;",
      "about: About::ActivityEnded(id, 4),",
    ]
  ) {
    assert.match(line, BY_NUMBER);
  }
  for (
    const line of [
      "r.bytes(3)",
      "w.message(own.text())",
      "self.patches.get(&id)",
      "    const FIELD: u32 = fields::$message::EVENT.1;",
      "    pub const START: i32 = 1;",
      "limits: [u32; 3], next i64,",
    ]
  ) assert.doesNotMatch(line, BY_NUMBER);
});
