// Programs written for Temporal open with histories that the official SDK recorded, and changed
// variants diverge at the event that the official replayer reports. The corpus is in a folder next
// to the checkout; without it, these tests are skipped. Verdicts of all programs are compared in
// Node and Deno (tests/unit/compat/verdicts.test.ts); the page opens each eighth.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  caseNames,
  corpusRoot,
  historyOf,
  loadCase,
  loadRows,
  type Row,
} from "../../tests/unit/compat/support/corpus.ts";
import { type App, expect, test } from "./support/story.ts";
import { permit } from "./support/programs.ts";

const root = corpusRoot();
const names = root === undefined ? [] : caseNames(root).filter((_, i) => i % 8 === 0);
const PARTS = 4;

/** Drops a history and its program. Returns the verdict of the page. */
async function verdictOf(app: App, row: Row): Promise<string> {
  const found = loadCase(root!, row.case);
  const events = JSON.stringify(historyOf(root!, found, row));
  const { file } = found.variants[row.variant]!;
  await app.forgetRuns();
  await app.start();
  await app.drop([{ name: "history.json", content: events }]);
  await expect(app.page.locator("#verdict")).toHaveText(/No code/);
  await app.drop([{ name: file, content: readFileSync(join(root!, "workflows", file), "utf8") }]);
  await permit(app);
  await expect(app.page.locator("#verdict")).toHaveText(
    /Replays|Diverges|Fails|Not replayed|Not parsed/,
  );
  return (await app.page.locator("#verdict").innerText()).split(/\s/)[0]!;
}

for (let part = 0; part < PARTS; part++) {
  test(`programs for Temporal, part ${part + 1} of ${PARTS}`, async ({ app }) => {
    test.skip(root === undefined, "the corpus is not next to this checkout");
    const rows = loadRows(root!).filter(({ cutAt }) => cutAt === undefined);
    const wrong: string[] = [];
    for (const name of names.filter((_, i) => i % PARTS === part)) {
      const own = rows.filter((row) => row.case === name);
      const base = own.find(({ variant, verdict }) => variant === "base" && verdict === "OK");
      const broken = own.find(({ verdict }) => verdict === "NONDETERMINISM");
      for (const [row, wanted] of [[base, "Replays"], [broken, "Diverges"]] as const) {
        if (row === undefined) continue;
        const verdict = await verdictOf(app, row);
        if (verdict !== wanted) {
          wrong.push(`${name} ${row.history} ${row.variant}: ${verdict}, wanted ${wanted}`);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
}
