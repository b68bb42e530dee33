// runtime: node
// Every text that docs/troubleshooting.md quotes occurs in the sources, so that a reader who
// searches for an error finds it there.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";

const root = process.cwd();
const GAP = "\u0001";

/**
 * The string literals of a file as one text: concatenations are joined, and placeholders become
 * `GAP`.
 */
function literalText(source: string, rust: boolean): string {
  const joined = source.replace(/\\\n\s*/g, "").replace(/(["'`])\s*\+\s*(["'`])/g, "").replace(
    /\\(["'`])/g,
    "$1",
  );
  // Placeholders nest: `${ids.map((id) => `${id}`)}`. The innermost are replaced first.
  let text = joined;
  for (let before = ""; before !== text;) {
    before = text;
    text = text.replace(rust ? /\{[^{}\n]*\}/g : /\$\{[^{}]*\}/g, GAP);
  }
  return text;
}

const sources = ["ts", "core-rs/src"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|rs)$/.test(name) && !/generated/.test(name))
    .map((name) =>
      literalText(readFileSync(join(root, folder, name), "utf8"), name.endsWith(".rs"))
    )
);

/**
 * The texts of a page: the code in the first cell of each row of a table whose first column is
 * "text".
 */
function quotedTexts(markdown: string): string[] {
  const texts: string[] = [];
  let inTable = false;
  for (const line of markdown.split("\n")) {
    if (/^\| text \|/.test(line)) inTable = true;
    else if (!line.startsWith("|")) inTable = false;
    else if (inTable && !line.startsWith("|---")) {
      texts.push(/^\| `([^`]+)`/.exec(line)?.[1] ?? `a row without code: ${line}`);
    }
  }
  return texts;
}

/** A pattern that matches a quoted text; `...` matches any text within one message. */
function patternOf(text: string): RegExp {
  const parts = text.split("...").map((part) =>
    part.trim().replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/ /g, "\\s+")
  );
  return new RegExp(parts.filter((part) => part !== "").join("[\\s\\S]{0,400}?"));
}

const found = (text: string) => sources.some((source) => patternOf(text).test(source));

test("every text in docs/troubleshooting.md occurs in the sources", () => {
  const texts = quotedTexts(readFileSync(join(root, "docs/troubleshooting.md"), "utf8"));
  assert.ok(texts.length >= 40, `the page has ${texts.length} texts`);
  assert.deepEqual(texts.filter((text) => !found(text)), []);
  assert.equal(new Set(texts).size, texts.length, "a text is listed twice");
});

test("a quoted text without a source is reported", () => {
  assert.equal(found("this text occurs in ... no source of the package"), false);
  assert.deepEqual(
    quotedTexts(
      "| text | cause |\n|---|---|\n| `a ... b` (`E`) | c |\n\n| other |\n|---|\n| `d` |\n",
    ),
    [
      "a ... b",
    ],
  );
});
