// runtime: node
// docs/patterns.md has a row and a section for each folder of examples/patterns, and its line
// counts are those of the files.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const FOLDER = "examples/patterns";
const page = readFileSync("docs/patterns.md", "utf8");
const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

/** Lines of code without imports, comments and empty lines. */
function countLines(source: string): number {
  return source.replace(/^import\b[\s\S]*?;$/gm, "").replace(/\/\*[\s\S]*?\*\//g, "").split("\n")
    .filter((line) => line.trim() !== "" && !line.trim().startsWith("//")).length;
}

const cellsOf = (folder: string) =>
  ["native", "temporal"].flatMap((form) => {
    const path = `${FOLDER}/${folder}/${form}.ts`;
    return [`[${form}](../${path})`, String(countLines(readFileSync(path, "utf8")))];
  });

test("lines of code are counted without imports, comments and empty lines", () => {
  const source = `// head\nimport {\n  a,\n} from "a";\nimport b from "b";\n\n/**\n * text\n */\n` +
    `f(a); // a comment\n  // another\ng(b);\n`;
  assert.equal(countLines(source), 2);
});

test("docs/patterns.md lists every pattern with the lines of both forms", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| [")).map((line) =>
    line.split("|").slice(1, -1).map((cell) => cell.trim())
  );
  const expected = folders.map((folder) => cellsOf(folder));
  const listed = rows.map(([, , ...cells]) => cells);
  const sorted = (table: string[][]) => table.map((cells) => cells.join(" | ")).sort();
  assert.deepEqual(sorted(listed), sorted(expected));
  for (const [name = ""] of rows) {
    const title = /^\[(.+)\]/.exec(name)![1]!;
    const section = page.split(`\n## ${title}\n`)[1]?.split("\n## ")[0] ?? "";
    assert.match(section, /^- \*\*Use it\*\* /m, `section "${title}"`);
    assert.match(section, /^- \*\*Do not use it\*\* /m, `section "${title}"`);
  }
});
