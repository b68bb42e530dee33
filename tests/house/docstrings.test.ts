// runtime: node
// A docstring of a field adds something to the names that the reader sees: a unit, a default, a
// condition, what null means. If it has only words of the field, its type, its owner and its file,
// it must go.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const FIELD =
  /^\s+(?:(?:readonly|static|override|public|declare) )*(?:"?[\w$]+"?|#\w+|\[\w+\])[?!]?(?::| =|;)/;
const OWNER =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|interface|type|const|function|namespace) (\w+)/;
const GRAMMAR = new Set(
  ("the a an of in to is are it its for with that this which and or on by as at from be has have " +
    "one each what whether if into given where when whose all any them they there here").split(" "),
);
/** Words that are in nearly every type here, so they add nothing. */
const COMMON = "workflow run number name value";

const stem = (word: string) =>
  word.toLowerCase().replace(/ies$/, "y").replace(/(?:ing|ed|es|s)$/, "").replace(/e$/, "");
const stems = (text: string) =>
  (text.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).map((word) => stem(word));

/** Returns the docstrings of fields in `text` that add no word. */
function repetitions(text: string, file: string): string[] {
  const found: string[] = [];
  const lines = text.split("\n");
  let owner = "";
  lines.forEach((line, index) => {
    owner = OWNER.exec(line)?.[1] ?? owner;
    const docstring = /^\s+\/\*\* (.*) \*\/$/.exec(line)?.[1];
    const field = lines[index + 1] ?? "";
    // Numbers, code and intervals add a range, an example or a unit.
    if (docstring === undefined || !FIELD.test(field) || /[\d`({[]/.test(docstring)) return;
    const seen = new Set(stems(`${field} ${owner} ${file.replaceAll(/[^a-z]/gi, " ")} ${COMMON}`));
    const added = (docstring.match(/[a-z']+/gi) ?? [])
      .filter((word) => !GRAMMAR.has(word.toLowerCase()) && !seen.has(stem(word)));
    if (added.length === 0) found.push(`${file}:${index + 1}: ${docstring}`);
  });
  return found;
}

test("no docstring of a field only repeats names", () => {
  const files = execFileSync("git", ["ls-files", "ts", "web-demo/src", "tools", "tests"], {
    encoding: "utf8",
  }).split("\n").filter((file) => /\.(?:tsx?|mjs)$/.test(file) && !file.includes("/generated/"));
  assert.ok(files.length > 1000, `${files.length} files found`);
  assert.deepEqual(files.flatMap((file) => repetitions(readFileSync(file, "utf8"), file)), []);
});

test("what a docstring adds is seen", () => {
  const retry = (docstring: string) =>
    repetitions(
      `export interface Retry {\n  /** ${docstring} */\n  attempts: number;\n}`,
      "retry.ts",
    );
  assert.deepEqual(retry("Number of attempts of the retry."), [
    "retry.ts:2: Number of attempts of the retry.",
  ]);
  for (
    const adds of ["Attempts, the first included.", "Attempts. Default: 3.", "`0`: no limit."]
  ) {
    assert.deepEqual(retry(adds), [], adds);
  }
});
