// The long power-loss loop: `node dist/tools/soak/power_loss.js --rounds 500 [--synchronous
// FULL|NORMAL] [--seed 1] [--json]` (or with Deno: `deno run -A tools/soak/power_loss.ts`). The
// power fails at a random write or sync of a store's work, and what was not synced is lost,
// reordered or torn. Exit code 1 when anything acknowledged was lost that was promised, or the
// store is not sound.
import process from "node:process";
import { parseArgs } from "node:util";
import { seeded } from "../../tests/faults/chaos/proxy.ts";
import { PowerLossLoop } from "../../tests/faults/power/loop.ts";
import { PowerSqlite } from "../../tests/faults/power/sqlite.ts";
import type { Synchronous } from "../../ts/engine/mod.ts";

const USAGE = `usage: power_loss [--rounds 500] [--synchronous FULL|NORMAL] [--seed 1] [--json]

Lets the power fail at random moments of a store's work, and judges the store after each failure.
--json prints one JSON object for the whole; without it progress is printed, too.`;

/** Rounds on one store: then it is started again, so that creation is hit as well. */
const ROUNDS_PER_STORE = 50;

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    rounds: { type: "string", default: "500" },
    synchronous: { type: "string", default: "FULL" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
const { synchronous } = values;
if (
  values.help || !Number.isInteger(rounds) || !Number.isInteger(seed) ||
  !["FULL", "NORMAL"].includes(synchronous)
) {
  console.log(USAGE);
  process.exit(values.help ? 0 : 2);
}
const began = performance.now();
const sqlite = await PowerSqlite.load();
const total: Record<string, number> = {};
const problems: string[] = [];
for (let done = 0; done < rounds && problems.length === 0; done += ROUNDS_PER_STORE) {
  const crashes = Math.min(ROUNDS_PER_STORE, rounds - done);
  const options = { crashes, synchronous: synchronous as Synchronous, random: seeded(seed + done) };
  const { problems: found, ...figures } = new PowerLossLoop(sqlite, options).run();
  problems.push(...found.map((text) => `seed ${seed + done}: ${text}`));
  for (const [name, value] of Object.entries(figures)) total[name] = (total[name] ?? 0) + value;
  if (!values.json) {
    console.log(
      `${done + crashes} of ${rounds} crashes, ${total["acknowledged"]} commits acknowledged`,
    );
  }
}
const seconds = Math.round((performance.now() - began) / 1000);
console.log(JSON.stringify({ synchronous, seed, ...total, problems, seconds }));
process.exitCode = problems.length === 0 ? 0 : 1;
