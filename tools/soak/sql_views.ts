// The views of SQL against the API, over many random operations: `node
// dist/tools/soak/sql_views.js`. One JSON line at the end; exit code 1 at the first difference. The
// operations and what is compared: tests/unit/engine/support/random_views.ts.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { randomViews } from "../../tests/unit/engine/support/random_views.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    operations: { type: "string", default: "10000" },
    slice: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: sql_views [--operations 10000] [--slice 100] [--seed 1]\n\n--slice: operations between two comparisons.",
  );
  process.exit(0);
}

const folder = mkdtempSync(join(tmpdir(), "temporalex-views-"));
const began = performance.now();
const compared = await randomViews({
  path: join(folder, "views.sqlite"),
  operations: Number(values.operations),
  slice: Number(values.slice),
  seed: Number(values.seed),
});
rmSync(folder, { recursive: true, force: true });
const seconds = Math.round((performance.now() - began) / 100) / 10;
console.log(JSON.stringify({ ...compared, differences: 0, seconds }));
