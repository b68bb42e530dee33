// What a reducer costs: workflow tasks that a timer starts, with and without a row that commits
// with them; steps that wait for a reducer, compared with steps that wait for an activity. In turn
// on one file each, engine and worker in this process. JSON on standard output.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { silentLogger } from "../ts/client/mod.ts";
import type { Synchronous } from "../ts/engine/mod.ts";
import { open } from "../ts/mod.ts";
import { count, options, spread } from "./lib/measure.ts";
import * as programs from "./transact/programs.ts";
import * as reducers from "./transact/reducers.ts";

const HELP = `usage: npm run bench -- transact [options]

Measures the cost of a reducer: workflow tasks with and without a row in their transaction, and
steps that wait for a reducer or for an activity. Prints JSON.

--rounds=N        rounds of all kinds, after a warm-up round (default 5)
--in-flight=N     concurrent workflows (default 16)
--steps=N         steps of each workflow (default 100)
--synchronous=X   FULL or NORMAL, as in SQLite (default NORMAL)

Example: npm run bench -- transact --rounds=1 --synchronous=FULL
Exit code: 0 measured; 1 an invalid option, or a run failed.`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const given = options(args, {
  rounds: "5",
  "in-flight": "16",
  steps: "100",
  synchronous: "NORMAL",
});
const [rounds, inFlight, steps] = [
  count("rounds", given.rounds),
  count("in-flight", given["in-flight"]),
  count("steps", given.steps),
];

type Kind = keyof typeof programs;
const KINDS: readonly Kind[] = ["bare", "row", "awaited", "activity"];

/** Microseconds of one step: by the clock, and of processor time of this process. */
async function measure(kind: Kind): Promise<{ wall: number; cpu: number }> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-bench-"));
  const app = await open({
    path: join(folder, "store.sqlite"),
    workflows: new URL("./transact/programs.ts", import.meta.url),
    activities: { nothing: () => {} },
    reducers,
    migrations: [{
      name: "001",
      sql: "CREATE TABLE line (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)",
    }],
    engine: { synchronous: given.synchronous as Synchronous },
    logger: silentLogger,
    serve: false,
  });
  try {
    const run = (n: number, length: number) =>
      Promise.all(
        Array.from({ length: n }, (_, i) =>
          app.client.execute(programs[kind], { id: `${kind}-${length}-${i}`, args: [length] })),
      );
    await run(2, 5);
    const [began, used] = [performance.now(), process.cpuUsage()];
    await run(inFlight, steps);
    const { user, system } = process.cpuUsage(used);
    const n = inFlight * steps;
    return { wall: (performance.now() - began) * 1000 / n, cpu: (user + system) / n };
  } finally {
    await app.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const found = new Map<Kind, { wall: number; cpu: number }[]>(KINDS.map((kind) => [kind, []]));
for (let i = 0; i <= rounds; i++) {
  for (const kind of KINDS) {
    const result = await measure(kind);
    if (i > 0) found.get(kind)!.push(result);
  }
}
const ratio = (of: Kind, to: Kind, what: "wall" | "cpu") =>
  spread(found.get(of)!.map((each, i) => each[what] / found.get(to)![i]![what]));
console.log(JSON.stringify(
  {
    inFlight,
    steps,
    synchronous: given.synchronous,
    microsecondsPerStep: Object.fromEntries(
      KINDS.map((kind) => [kind, {
        wall: spread(found.get(kind)!.map((r) => r.wall)),
        cpu: spread(found.get(kind)!.map((r) => r.cpu)),
      }]),
    ),
    rowOverBare: { wall: ratio("row", "bare", "wall"), cpu: ratio("row", "bare", "cpu") },
    awaitedOverActivity: {
      wall: ratio("awaited", "activity", "wall"),
      cpu: ratio("awaited", "activity", "cpu"),
    },
  },
  undefined,
  2,
));
