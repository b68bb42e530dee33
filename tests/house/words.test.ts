// runtime: node
// The documentation uses the terms of Temporal, SQL and ECMAScript and plain sentences. The
// patterns below mark wording that readers of other projects do not know. An exception is a
// quotation or another meaning of the word, with its reason.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

interface Pattern {
  readonly finds: RegExp;
  readonly instead: string;
}

const PATTERNS: readonly Pattern[] = [
  {
    finds:
      /\b(?:is|are|was|were) (?:no (?!longer\b|more\b|op\b|different\b|way\b|need\b)[a-z]+|none\b)/i,
    instead: '"X is not a Y", "invalid Y", or the missing thing as the subject',
  },
  { finds: /\bnone (?:of|that)\b/i, instead: '"no", "not"' },
  {
    finds: /\b(?:answers|answered|(?:is|an|its|the) answer)\b/i,
    instead: "returns, responds, completes, accepts; result, response",
  },
  {
    finds: /\b(?:is|are|was|were|be|been|gets?|not) (?:told|said)\b|\btells\b/i,
    instead: "is notified, is logged, reports",
  },
  {
    finds:
      /\b(?:whoever|nobody|somebody|someone|who (?:is|has|asks|calls|wants|waits|reads|writes|made|pressed|may|must|does|did))\b/i,
    instead: "the caller, the worker, another process, users",
  },
  {
    finds: /\b(?:stands|stood|lies (?:in|at|on|under|beside|behind|next)|lives (?:in|on|at))\b/i,
    instead: "is in, runs in, is next to",
  },
  {
    finds: /\b(?:goes on|went on|go on|once more|anew)\b/i,
    instead: "continues, resumes, retries, again",
  },
  { finds: /\bbeside\b/i, instead: "next to, in addition to" },
  {
    finds:
      /\b(?:given up|gives up|taken back|takes back|left alone|let go|taken over|takes over)\b/i,
    instead: "canceled, rejected, evicted, discarded, released, replaced",
  },
  {
    finds: /\bof (?:its|their|our|your) own\b|\bof (?:ours|theirs)\b/i,
    instead: "its own X, a separate X",
  },
  {
    finds: /\bin work\b|\bhang together\b|\bcame (?:of it|about)\b|\bcomes? of it\b/i,
    instead: "in progress, related, result",
  },
  {
    finds: /\b(?:the|a|every|three|two|this|other|own) doors?\b|\bdoors\b/i,
    instead: "the way, the API, the entry point",
  },
];

/** Lines that keep a word. `text` is a part of the line. */
const EXCEPTIONS: readonly {
  readonly file: string;
  readonly text: string;
  readonly reason: string;
}[] = [
  {
    file: "docs/dev/semantics/messages.md",
    text: "`temporalex-answered-updates`",
    reason: "the name of a header",
  },
  {
    file: "docs/dev/semantics/updates.md",
    text: "## Speculative tasks may be taken back",
    reason: "comments of the core cite this anchor",
  },
  {
    file: "core-rs/tests/replay/patches.rs",
    text: "Non-deprecated patch marker",
    reason: "a message of Temporal's SDKs",
  },
  { file: "tests/cases/game.ts", text: '"stood down"', reason: "a result of examples/game" },
  {
    file: "tests/unit/compat/record.mjs",
    text: '"given up"',
    reason: "the message is in a recorded history",
  },
];

/** All pages of the repository. */
const FILES = execFileSync("git", ["ls-files", "*.md"], { encoding: "utf8" }).split("\n")
  .filter((file) => file !== "" && file !== "THIRD_PARTY_NOTICES.md");

/**
 * A page without quoted test names (paragraphs that begin with "Tests:") and without addresses of
 * links; line numbers stay.
 */
function readableText(markdown: string): string {
  return markdown.replace(
    /^(?:Tests|In a browser): [\s\S]*?(?=\n\n|\s*$(?![\s\S]))/gm,
    (list) => list.replace(/[^\n]/g, ""),
  )
    .replace(/\]\([^)\s]*\)/g, "]()");
}

/** What is wrong with a line; undefined if nothing is. */
function problemOf(line: string): string | undefined {
  const found = PATTERNS.flatMap(({ finds, instead }) => {
    const match = finds.exec(line);
    return match === null ? [] : [`"${match[0]}" (write: ${instead})`];
  });
  return found.length === 0 ? undefined : found.join("; ");
}

test("the documentation uses plain words", () => {
  const problems = FILES.flatMap((file) =>
    readableText(readFileSync(file, "utf8")).split("\n").flatMap((line, i) => {
      const problem = problemOf(line);
      const excepted = EXCEPTIONS.some((exception) =>
        exception.file === file && line.includes(exception.text)
      );
      return problem === undefined || excepted ? [] : [`${file}:${i + 1}: ${problem}`];
    })
  );
  assert.deepEqual(problems, []);
});

/**
 * A line of code without strings of one word (names, paths); empty if it has no comment, string or
 * text.
 */
const readableCode = (line: string): string => {
  const text = line.replace(/"[^"\s]*"/g, "");
  return /\/\/|\/\*|^\s*\*|["`]|>[^<]*[a-z]|^\s*[A-Z][^(){}=]*$/.test(text) ? text : "";
};

test("comments and texts of the page use plain words", () => {
  const files = execFileSync("git", ["ls-files", "web-demo/src", "web-demo/index.html"], {
    encoding: "utf8",
  })
    .split("\n").filter((file) => /\.(?:tsx?|css|html)$/.test(file));
  assert.ok(files.length > 200, `${files.length} files`);
  const problems = files.flatMap((file) =>
    readFileSync(file, "utf8").split("\n").flatMap((line, i) => {
      const problem = problemOf(readableCode(line));
      return problem === undefined ? [] : [`${file}:${i + 1}: ${problem}`];
    })
  );
  assert.deepEqual(problems, []);
});

/** Folders of tests and tools whose titles, comments and texts are in plain words. */
const TEST_FOLDERS = ["bench", "core-rs/tests", "tests", "tools", "web-demo/e2e"];

/** The file that quotes the patterns. */
const THIS_FILE = "tests/house/words.test.ts";

test("titles, comments and texts of tests and tools use plain words", () => {
  const files = execFileSync("git", ["ls-files", ...TEST_FOLDERS], { encoding: "utf8" })
    .split("\n").filter((file) => /\.(?:tsx?|m?js|rs)$/.test(file) && file !== THIS_FILE);
  assert.ok(files.length > 800, `${files.length} files`);
  const problems = files.flatMap((file) =>
    readFileSync(file, "utf8").split("\n").flatMap((line, i) => {
      const problem = problemOf(readableCode(line));
      const excepted = EXCEPTIONS.some((exception) =>
        exception.file === file && line.includes(exception.text)
      );
      return problem === undefined || excepted ? [] : [`${file}:${i + 1}: ${problem}`];
    })
  );
  assert.deepEqual(problems, []);
});

test("in code, comments and sentences are checked; names and paths are not", () => {
  assert.notEqual(problemOf(readableCode("  /** The worker answers. */")), undefined);
  assert.notEqual(problemOf(readableCode('  title="The code stands here"')), undefined);
  assert.equal(problemOf(readableCode('import { openFiles } from "./doors.ts";')), undefined);
  assert.equal(problemOf(readableCode('  if (what === "answers") {')), undefined);
});

test("names of tests and addresses of links are not checked", () => {
  const text =
    'A rule.\n\nTests: [a](b) "the worker answers",\n"nobody polls".\n\nSee [a](../beside-a-store.md). The run goes on.\n';
  const lines = readableText(text).split("\n");
  assert.deepEqual(lines.flatMap((line, i) => problemOf(line) === undefined ? [] : [i + 1]), [6]);
});

test("each exception is still needed and has a reason", () => {
  for (const { file, text, reason } of EXCEPTIONS) {
    const line = readFileSync(file, "utf8").split("\n").find((each) => each.includes(text));
    assert.ok(
      line !== undefined && problemOf(line) !== undefined,
      `${file}: "${text}" is not needed`,
    );
    assert.notEqual(reason, "");
  }
});

test("each pattern finds its wording, and plain sentences pass", () => {
  for (
    const line of [
      "a message is no bytes",
      "none of the workers",
      "the worker answers",
      "the client is told",
      "nobody polls",
      "the code stands in a file",
      "the run goes on",
      "the socket beside the store",
      "the lock is given up",
      "a thread of its own",
      "what came of it",
      "every door to the outside",
    ]
  ) assert.notEqual(problemOf(line), undefined, line);
  for (
    const line of [
      "The run continues in another worker, and there is no longer a timer.",
      "A value that is not a number is rejected.",
      "No worker polls the queue.",
      "The socket next to the store has mode 0600.",
    ]
  ) assert.equal(problemOf(line), undefined, line);
});
