// docs/dev/realms.md has the table of ways out of a run that tests/cases/realm_escapes.ts tries.
// runtime: node
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { type Escape, ESCAPES } from "../cases/realm_escapes.ts";

const BEGIN =
  "<!-- ways out: made by tests/house/escapes.test.ts from tests/cases/realm_escapes.ts -->";
const END = "<!-- end of ways out -->";
const page = join(process.cwd(), "docs/dev/realms.md");

const cell = (text: string): string => text.replaceAll("|", "\\|");

function outcome(of: Escape["native"] | undefined): string {
  if (of === undefined) return "the same";
  if (of instanceof RegExp) return "an error";
  if (typeof of === "object" && of !== null) return "warned of at load";
  return `\`${cell(JSON.stringify(of))}\``;
}

/** Attempts with one outcome are one row. */
function table(): string {
  const rows = new Map<string, { topic: string; outcomes: string; codes: string[] }>();
  for (const { topic, code, native, ...rest } of ESCAPES) {
    const outcomes = `${outcome(native)} | ${
      outcome("temporal" in rest ? rest.temporal : undefined)
    }`;
    const key = `${topic} | ${outcomes}`;
    const row = rows.get(key) ?? { topic, outcomes, codes: [] };
    rows.set(key, row);
    row.codes.push(`\`${cell(code.replaceAll(" as any", ""))}\``);
  }
  const lines = [...rows.values()].map(({ topic, outcomes, codes }) =>
    `| ${topic} | ${codes.join("<br>")} | ${outcomes} |`
  );
  return ["| after | attempt | native | `@temporalio/workflow` |", "|---|---|---|---|", ...lines]
    .join("\n");
}

test("the table of ways out in docs/dev/realms.md is that of the cases (WRITE_TABLES=1 writes it)", () => {
  const text = readFileSync(page, "utf8");
  const [before, rest = ""] = text.split(BEGIN);
  const after = rest.split(END)[1] ?? "";
  const wanted = `${before}${BEGIN}\n\n${table()}\n\n${END}${after}`;
  if (process.env["WRITE_TABLES"] === "1") writeFileSync(page, wanted);
  else assert.equal(text, wanted);
});
