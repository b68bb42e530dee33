// Random programs with every construct of the database engine, by the thousands: `node
// dist/tools/soak/random_constructs.js [--runs 2000] [--seed N] [--only TEXT]`. The properties are
// those of tests/cases/random_constructs.ts. One JSON line per property; exit code 1 with the
// smallest program and life that break one.
import fc from "fast-check";
import process from "node:process";
import { parseArgs } from "node:util";
import { PROPERTIES } from "../../tests/cases/random_constructs.ts";
import { continued } from "../../tests/cases/random_rounds.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    runs: { type: "string", default: "2000" },
    seed: { type: "string", default: String(Date.now() % 0x7fffffff) },
    only: { type: "string", default: "" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: random_constructs [--runs 2000] [--seed N] [--only TEXT]\n\n" +
      "--runs: programs of each property. --seed: the same seed gives the same programs. --only: properties whose name has this text.",
  );
  process.exit(0);
}
for (const [name, { property }] of Object.entries(PROPERTIES)) {
  if (!name.includes(values.only)) continue;
  const began = performance.now();
  const found = await fc.check(property as fc.IAsyncProperty<unknown>, {
    numRuns: Number(values.runs),
    seed: Number(values.seed),
  });
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(
    JSON.stringify({
      property: name,
      runs: found.numRuns,
      seed: found.seed,
      ok: !found.failed,
      seconds,
    }),
  );
  if (!found.failed) continue;
  console.error(JSON.stringify(found.counterexample));
  console.error(String(found.errorInstance));
  process.exitCode = 1;
}
console.log(JSON.stringify({ continuedAsNew: continued.runs, ok: process.exitCode !== 1 }));
process.exit();
