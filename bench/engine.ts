// Speed of the embedded engine on a SQLite file: durable activity steps per second and workflows
// per second, at each level of durability and number of workflows in flight, and the time of a step
// as a history grows. Engine, worker and client are in this process, workflow code in a worker
// realm (the product's default). JSON on standard output.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Client, silentLogger } from "../ts/client/mod.ts";
import {
  type DriverName,
  EmbeddedEngine,
  MemoryStore,
  type Synchronous,
} from "../ts/engine/mod.ts";
import { Worker } from "../ts/worker/mod.ts";
import { count, options, round, spread } from "./lib/measure.ts";
import * as programs from "./lib/programs.ts";

const HELP = `usage: npm run bench -- engine [options]

--repeats=N          measurements of each setting that count, after a first one (default 3)
--in-flight=A,B      workflows in flight (default 1,64,1000)
--synchronous=A,B    FULL, NORMAL; memory: a store in memory (default FULL,NORMAL)
--drivers=A,B        node:sqlite, libsql, node-sqlite3-wasm (default: the one that the product chooses)
--realm=KIND         worker, inline (default worker)
--pollers=N          polls in flight per queue (default: the worker's)
--steps=N            steps of one measurement, over all workflows in flight (default 4000; a tenth of it with one in flight)
--growth=A,B         events of one history at whose end a step is timed (default 100,1000)
--full               growth at 100,1000,10000,50000, steps=20000
--folder=DIR         where the files are (default: the system's temporary folder)`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const full = args.includes("--full");
const given = options(args, {
  repeats: "3",
  "in-flight": "1,64,1000",
  synchronous: "FULL,NORMAL",
  drivers: "",
  realm: "worker",
  steps: full ? "20000" : "4000",
  growth: full ? "100,1000,10000,50000" : "100,1000",
  full: "",
  folder: tmpdir(),
  pollers: "",
});

interface Setting {
  readonly synchronous: Synchronous | "memory";
  readonly driver: DriverName | undefined;
}

interface App {
  readonly engine: EmbeddedEngine;
  readonly client: Client;
}

/** Opens an engine on a new file with a worker, for the time of `body`. */
async function withApp<T>(
  { synchronous, driver }: Setting,
  body: (app: App) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(given.folder, "temporalex-bench-"));
  const place = synchronous === "memory"
    ? { store: new MemoryStore() }
    : { path: join(folder, "engine.sqlite"), synchronous };
  const engine = await EmbeddedEngine.open({ ...place, ...(driver !== undefined && { driver }) });
  try {
    const common = { service: engine, taskQueue: "bench", logger: silentLogger };
    const worker = await Worker.create({
      ...common,
      workflows: given.realm === "inline"
        ? Object.values(programs).filter(isWorkflow)
        : new URL("./lib/programs.ts", import.meta.url),
      activities: { echo: (value: number) => value },
      ...(given.pollers !== "" && {
        activityTaskPollerBehavior: {
          type: "autoscaling" as const,
          maximum: count("pollers", given.pollers),
        },
        workflowTaskPollerBehavior: {
          type: "autoscaling" as const,
          maximum: count("pollers", given.pollers),
        },
      }),
    });
    return await worker.runUntil(() => body({ engine, client: new Client(common) }));
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function isWorkflow(value: unknown): value is typeof programs.sequential {
  return typeof (value as { run?: unknown }).run === "function";
}

/** `total` workflows of `steps` activities each, `inFlight` at a time; seconds that it took. */
async function run(
  { client }: App,
  prefix: string,
  total: number,
  inFlight: number,
  steps: number,
): Promise<number> {
  let next = 0;
  const sum = steps * (steps - 1) / 2;
  const lane = async () => {
    while (next < total) {
      const result = await client.execute(programs.sequential, {
        id: `${prefix}-${next++}`,
        args: [steps],
      });
      if (result !== sum) {
        throw new Error(`a workflow of ${steps} steps returned ${result} instead of ${sum}`);
      }
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: inFlight }, lane));
  return (performance.now() - start) / 1000;
}

async function throughput(setting: Setting, inFlight: number, repeats: number) {
  return await withApp(setting, async (app) => {
    const all = count("steps", given.steps, 10);
    const each = Math.max(1, Math.round((inFlight === 1 ? all / 10 : all) / inFlight));
    const total = Math.max(inFlight, Math.round(inFlight === 1 ? all / 40 : all / 4));
    const stepRates: number[] = [];
    const flowRates: number[] = [];
    const commits: number[] = [];
    const cpu: number[] = [];
    for (let i = 0; i <= repeats; i++) {
      const before = app.engine.stats().commits;
      const usage = process.cpuUsage();
      const steps = each * inFlight / await run(app, `steps${i}`, inFlight, inFlight, each);
      const { user, system } = process.cpuUsage(usage);
      const commitsPerStep = (app.engine.stats().commits - before) / (each * inFlight);
      const flows = total / await run(app, `flows${i}`, total, inFlight, 1);
      if (i === 0) continue;
      stepRates.push(steps);
      flowRates.push(flows);
      commits.push(commitsPerStep);
      cpu.push((user + system) / (each * inFlight));
    }
    return {
      inFlight,
      stepsPerSecond: spread(stepRates),
      workflowsPerSecond: spread(flowRates),
      commitsPerStep: spread(commits),
      cpuMicrosecondsPerStep: spread(cpu),
    };
  });
}

/** One workflow; the time of its last steps when its history has so many events. */
async function growth(setting: Setting, events: number) {
  return await withApp(setting, async ({ client }) => {
    const steps = Math.max(1, Math.floor((events - 5) / 6));
    const marks: number[] = [];
    const handle = await client.start(programs.sequential, { id: "long", args: [steps] });
    // The last tenth (at least ten steps, at most two hundred) is timed by looking at the history's
    // length.
    const tail = Math.min(200, Math.max(10, Math.round(steps / 10)), steps);
    const from = steps - tail;
    let length = 0;
    while (length < from * 6 && length < (steps - 1) * 6) {
      length = (await handle.describe()).historyLength;
      await new Promise((resolve) => setTimeout(resolve, steps > 1000 ? 5 : 0));
    }
    marks.push(performance.now(), length);
    await handle.result();
    const left = steps - Math.floor(marks[1]! / 6);
    return {
      events: steps * 6 + 5,
      stepsTimed: left,
      millisecondsPerStep: round((performance.now() - marks[0]!) / Math.max(1, left)),
    };
  });
}

const repeats = count("repeats", given.repeats);
const results = [];
for (
  const driver of given.drivers === "" ? [undefined] : given.drivers.split(",") as DriverName[]
) {
  for (const synchronous of given.synchronous.split(",") as Setting["synchronous"][]) {
    const setting = { synchronous, driver };
    const rates = [];
    for (const inFlight of given["in-flight"].split(",")) {
      rates.push(await throughput(setting, count("in-flight", inFlight), repeats));
    }
    const grown = [];
    if (synchronous !== "FULL" && given.growth !== "") {
      for (const events of given.growth.split(",")) {
        grown.push(
          await growth(setting, count("growth", events, 11)),
        );
      }
    }
    results.push({
      synchronous,
      driver: driver ?? "default",
      throughput: rates,
      ...(grown.length > 0 && { growth: grown }),
    });
  }
}
const { deno, node } = process.versions;
const runtime = deno !== undefined ? `deno ${deno}` : `node ${node}`;
console.log(
  JSON.stringify({ bench: "engine", runtime, realm: given.realm, repeats, results }, undefined, 1),
);
