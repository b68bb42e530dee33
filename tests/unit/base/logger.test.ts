// Log lines: one per record, fields shown, colors only where asked for.
import assert from "node:assert/strict";
import { test } from "node:test";
import { lineLogger, silentLogger, withFields } from "../../../ts/base/logger.ts";

test("a log record is one line, whatever its fields contain", () => {
  const lines: string[] = [];
  const logger = lineLogger({ minimum: "debug", write: (line) => void lines.push(line) });
  logger.info("started", {
    workflowId: "order 1",
    runId: "r",
    attempt: 2,
    left: undefined,
    ids: ["a"],
    big: 3n,
  });
  logger.error("failed", { error: new TypeError("two\nlines"), text: "a\nb\x1b[31m" });
  assert.deepEqual(lines, [
    'info  started workflowId="order 1" runId=r attempt=2 ids=["a"] big=3',
    'error failed error="TypeError: two\\nlines" text="a\\nb\\u001b[31m"',
  ]);
});

test("records below the minimum level are dropped; colors are printed only on request", () => {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const plain = lineLogger({ write });
  plain.debug("no");
  plain.warn("yes");
  lineLogger({ write, colors: true }).warn("colored");
  assert.deepEqual(lines, ["warn  yes", "\x1b[33mwarn \x1b[0m colored"]);
  assert.doesNotThrow(() => silentLogger.error("nothing"));
});

test("the logger's fields are added to every record; fields of the record take precedence", () => {
  const lines: string[] = [];
  const logger = withFields(lineLogger({ write: (line) => void lines.push(line) }), {
    queue: "q",
    attempt: 1,
  });
  logger.info("x", { attempt: 2 });
  assert.deepEqual(lines, ["info  x queue=q attempt=2"]);
});

test("texts in a record cannot start a line, control a terminal or reorder characters", () => {
  const lines: string[] = [];
  const logger = lineLogger({ write: (line) => lines.push(line) });
  for (
    const evil of [
      "\n",
      "\r",
      "\x1b[2K",
      "\x9b2K",
      "\x7f",
      "\u2028",
      "\u202e",
      "\u2066",
      "\u200f",
      "\u061c",
      "\x00",
    ]
  ) {
    logger.info(`a${evil}b`, {
      field: `c${evil}d`,
      error: new Error(`e${evil}f`),
      [`n${evil}`]: { inner: `g${evil}h` },
    });
    const line = lines.pop()!;
    assert.ok(!line.includes(evil[0]!), JSON.stringify(evil));
    // deno-lint-ignore no-control-regex
    assert.match(line, /^[^\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]+$/);
  }
  logger.info("line one\nline two\u0085");
  assert.equal(lines.pop(), "info  line one\\nline two\\u0085");
});
