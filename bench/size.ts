// Sizes and start: the core's module raw and compressed; the time from importing the package to the
// first result of a workflow in a fresh process, with a worker realm over a TypeScript module, and
// to the first task of the executor alone; the memory that an idle workflow takes in the cache of a
// worker. JSON on standard output. Node and Deno; tools/bench.mjs adds Chromium.
import { spawnSync } from "node:child_process";
import { Buffer } from "node:buffer";
import process from "node:process";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { wasmBase64 as engineBase64 } from "../ts/core/generated/engine_wasm.ts";
import { wasmBase64 as workerBase64 } from "../ts/core/generated/worker_wasm.ts";
import { count, options, round, spread } from "./lib/measure.ts";

const HELP = `usage: npm run bench -- size [options]

--repeats=N      fresh processes of each kind whose start is timed (default 5)
--package=DIR    the published package, made by tools/pack.mjs; without it only the checkout is timed
--idle=N         idle workflows in the cache (default 1000)
--full           idle=10000, repeats=15`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const full = args.includes("--full");
const given = options(args, {
  repeats: full ? "15" : "5",
  idle: full ? "10000" : "1000",
  package: "",
  full: "",
});

/**
 * Runs a program of this folder in a fresh process; what it printed as JSON. V8 loads nothing from
 * its caches when a flag is given.
 */
function fresh<T>(program: URL, argv: readonly string[], exposeGc = false): T {
  const file = fileURLToPath(program);
  const deno = "Deno" in globalThis;
  const flags = [
    ...(deno ? ["run", "-A"] : []),
    ...(exposeGc ? [deno ? "--v8-flags=--expose-gc" : "--expose-gc"] : []),
  ];
  const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, file, ...argv], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

interface Task {
  readonly importMs: number;
  readonly firstTaskMs: number;
  readonly sinceProcessStartMs: number;
}

interface App {
  readonly importMs: number;
  readonly openMs: number;
  readonly firstResultMs: number;
  readonly totalMs: number;
  readonly cpuMs: number;
}

interface Idle {
  readonly workflows: number;
  readonly heapBytes: number;
  readonly wasmBytes: number;
  readonly rssBytes: number;
}

const repeats = count("repeats", given.repeats);
const workflows = new URL("bench/lib/programs.ts", pathToFileURL(`${process.cwd()}/`)).href;
const entries = {
  ...(given.package !== "" &&
    { package: pathToFileURL(join(given.package, "dist/node/mod.js")).href }),
  checkout: new URL("../ts/mod.ts", import.meta.url).href,
};

/**
 * What a first run takes: each way once per round, so that the machine's moods meet them all alike.
 */
const tasks: Task[] = [];
const apps: { [way: string]: App[] } = {};
for (let i = 0; i < repeats; i++) {
  tasks.push(fresh<Task>(new URL("./lib/first_task.ts", import.meta.url), []));
  for (const [name, entry] of Object.entries(entries)) {
    for (const store of ["memory", "sqlite"]) {
      (apps[`${name}, ${store}`] ??= []).push(
        fresh<App>(new URL("./lib/first_app.ts", import.meta.url), [entry, store, workflows]),
      );
    }
  }
}
const idle = fresh<Idle>(new URL("./lib/idle_runs.ts", import.meta.url), [
  String(count("idle", given.idle)),
], true);
const sizeOf = (base64: string) => {
  const raw = Buffer.from(base64, "base64");
  return { rawBytes: raw.length, gzipBytes: gzipSync(raw, { level: 9 }).length };
};
const each = <T extends object>(samples: readonly T[]) =>
  Object.fromEntries(
    Object.keys(samples[0]!).map((key) => [
      key,
      spread(samples.map((s) => (s as unknown as { [key: string]: number })[key]!)),
    ]),
  );
console.log(JSON.stringify(
  {
    bench: "size",
    runtime: "Deno" in globalThis
      ? `deno ${(process.versions as { deno?: string }).deno}`
      : `node ${process.versions.node}`,
    repeats,
    modules: { worker: sizeOf(workerBase64), engine: sizeOf(engineBase64) },
    importToFirstResult: Object.fromEntries(
      Object.entries(apps).map(([way, samples]) => [way, each(samples)]),
    ),
    executorAlone: each(tasks),
    idleWorkflow: {
      workflows: idle.workflows,
      heapBytes: round(idle.heapBytes / idle.workflows),
      wasmBytes: round(idle.wasmBytes / idle.workflows),
      residentBytes: round(idle.rssBytes / idle.workflows),
    },
  },
  undefined,
  1,
));
