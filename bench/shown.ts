// What the columns `phase` and `state` cost: workflow tasks that a timer starts, on an engine whose
// worker publishes the state of its runs, and on one whose worker does not. In turn on a file each,
// engine and worker in this process. JSON on standard output.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Client, type RawService, silentLogger } from "../ts/client/mod.ts";
import { EmbeddedEngine, type Synchronous } from "../ts/engine/mod.ts";
import { Worker } from "../ts/worker/mod.ts";
import { count, options, spread } from "./lib/measure.ts";
import * as programs from "./shown/programs.ts";

const HELP = `usage: npm run bench -- shown [options]

--rounds=N        of all kinds in turn (default 7), after a first one
--in-flight=N     workflows (default 16)
--steps=N         of each workflow (default 150)
--synchronous=X   FULL or NORMAL (default NORMAL)`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const given = options(args, {
  rounds: "7",
  "in-flight": "16",
  steps: "150",
  synchronous: "NORMAL",
});
const [rounds, inFlight, steps] = [
  count("rounds", given.rounds),
  count("in-flight", given["in-flight"]),
  count("steps", given.steps),
];

const KINDS = ["silent", "silentShown", "publishing", "publishingShown"] as const;
type Kind = typeof KINDS[number];

/** Microseconds of one step: by the clock, and of processor time of this process. */
async function measure(kind: Kind): Promise<{ wall: number; cpu: number }> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-bench-"));
  const engine = await EmbeddedEngine.open({
    path: join(folder, "store.sqlite"),
    synchronous: given.synchronous as Synchronous,
  });
  const isShown = kind.endsWith("Shown");
  const service: RawService = isShown
    ? engine
    : { call: (method, request, call) => engine.call(method, request, call) };
  const common = { taskQueue: "bench", logger: silentLogger };
  const worker = await Worker.create({
    ...common,
    service,
    workflows: new URL("./shown/programs.ts", import.meta.url),
  });
  const client = new Client({ ...common, service: engine });
  const program = programs[kind.replace("Shown", "") as keyof typeof programs];
  try {
    return await worker.runUntil(async () => {
      const run = (n: number, length: number) =>
        Promise.all(
          Array.from({ length: n }, (_, i) =>
            client.execute(program, { id: `${kind}-${length}-${i}`, args: [length] })),
        );
      await run(2, 5);
      const [began, used] = [performance.now(), process.cpuUsage()];
      await run(inFlight, steps);
      const { user, system } = process.cpuUsage(used);
      const n = inFlight * steps;
      const told = engine.sql("SELECT count(phase) AS n FROM workflow")[0]?.["n"];
      if ((told !== 0) !== isShown) {
        throw new Error(`${kind}: ${told} runs have told of themselves`);
      }
      return { wall: (performance.now() - began) * 1000 / n, cpu: (user + system) / n };
    });
  } finally {
    await engine.close();
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
const both = (of: Kind, to: Kind) => ({ wall: ratio(of, to, "wall"), cpu: ratio(of, to, "cpu") });
console.log(JSON.stringify(
  {
    ...{ inFlight, steps, synchronous: given.synchronous },
    microsecondsPerStep: Object.fromEntries(
      KINDS.map((kind) => [kind, spread(found.get(kind)!.map((r) => r.wall))]),
    ),
    phase: both("silentShown", "silent"),
    phaseAndState: both("publishingShown", "publishing"),
  },
  undefined,
  2,
));
