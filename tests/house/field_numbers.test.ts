// runtime: node
// Fields of protobuf messages have names in this repository; their numbers are in generated files,
// and in the readers and writers themselves.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const walk = (dir: string): string[] =>
  readdirSync(dir).map((name) => join(dir, name)).flatMap((path) =>
    statSync(path).isDirectory() ? walk(path) : [path]
  );

/** Lines of files that a pattern finds. */
function linesWith(pattern: RegExp, files: readonly string[]): string[] {
  return files.flatMap((file) =>
    readFileSync(file, "utf8").split("\n").flatMap((line, i) =>
      pattern.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : []
    )
  );
}

/**
 * In the core: a call of the wire readers or writers with a field number, a check written by hand,
 * a declared field with its number, a constant that is one.
 */
const RUST = new RegExp(
  [
    /\.(?:text|int|int32|flag|get|sub|all|double|uint|nested|message|data|optional|numbers|duration_ms|entry|slot)\(\d+\b/,
    /\bput_(?:time|message)\(\w+, \d/,
    /Schema\(&\[\(/,
    /(?:^|[{,])\s*\d+ (?:r#)?\w+ (?:str|strs|bytes|encoded|i32|u32s|i64|u32|u64|double|bool|dur|ts|payloads|fields|failure|meta)\b\s*,/,
    /(?:^|[{,])\s*\d+ (?:r#)?\w+ (?:msg|reps|raw|raws)\(/,
    /FIELD\b[^=;]*=\s*\d|\b(?:ActivityEnded|ChildEnded)\([^()]*, \d|field_number: \d/,
  ].map((pattern) => pattern.source).join("|"),
);

test("no file of the core names a field by its number", () => {
  const files = ["core-rs/src/replay", "core-rs/src/history", "core-rs/src/engine"].flatMap(walk);
  assert.ok(files.length > 100, "the rooms are where this test looks for them");
  assert.deepEqual(linesWith(RUST, files), []);
});

/**
 * In TypeScript: a tag that is read or written by hand; a field of the reader compared with a
 * number; a writer called with one.
 */
const BY_HAND = /\.tag\(|\bBinaryReader\b|\.uint32\(\d|<< 3 \| \d/;
const BY_NUMBER =
  /\b(?:field|tag|number|kind) (?:[=!]==|[<>]=?) [1-9]|\bcase \d+:|\.(?:text|bytes|int|bool|double|message)\(\d|(?:textOf|intOf|bytesOf|firstOf|textField)\([^()]*, \d/;
/**
 * The reader and writer; and the users of the library's writer: one hands it to generated codecs,
 * one takes numbers from descriptors.
 */
const READER = "ts/messages/wire.ts";
const WRITER_USERS: ReadonlySet<string> = new Set([
  "ts/executor/program/encode.ts",
  "ts/compat/common/encode_plain.ts",
]);

const typescript = walk("ts").filter((file) =>
  file.endsWith(".ts") && !file.includes("generated") && file !== READER
);
/** Those that read or write encoded messages. */
const withWire = typescript.filter((file) =>
  /messages\/wire\.ts"|\.\/wire\.ts"|host_bytes\.ts"/.test(readFileSync(file, "utf8"))
);

test("no file of TypeScript reads or writes fields by itself, or names one by its number", () => {
  assert.ok(
    withWire.length > 25,
    `the reader is where this test looks for it: ${withWire.length} files use it`,
  );
  assert.deepEqual(linesWith(BY_HAND, typescript), []);
  assert.deepEqual(linesWith(BY_NUMBER, withWire), []);
  const writers = typescript.filter((file) => /\bBinaryWriter\b/.test(readFileSync(file, "utf8")));
  assert.deepEqual(writers.filter((file) => !WRITER_USERS.has(file)), []);
});

test("the patterns find what they are for", () => {
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
    assert.match(line, RUST);
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
  ) assert.doesNotMatch(line, RUST);
  for (
    const line of [
      "const [field, type] = reader.tag();",
      "const reader = new BinaryReader(bytes);",
      "writer.uint32(26).fork();",
      "const ARGUMENTS_TAG = 4 << 3 | 2;",
      "writer.tag(1, WireType.Varint).bool(true)",
    ]
  ) {
    assert.match(line, BY_HAND);
  }
  for (
    const line of [
      "if (at.tag === 10) id = at.text();",
      "if (at.number <= 3) return;",
      "if (field !== 2) continue;",
      "    case 14:",
      'message.text(1, "x")',
      "textOf(bytes, 2)",
      "textField(request, 1)",
    ]
  ) {
    assert.match(line, BY_NUMBER);
  }
  for (
    const line of [
      "if (at.tag === Poll.taskToken) token = at.bytes();",
      "message.text(MapEntry.key, key).int(Entry.value, 2)",
      "textOf(bytes, WorkflowType.name)",
      "writer.uint32(MapEntry.key).string(key)",
    ]
  ) {
    assert.doesNotMatch(line, BY_HAND);
    assert.doesNotMatch(line, BY_NUMBER);
  }
});
