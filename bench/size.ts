// Sizes and start: the core's module raw and compressed, the time from importing the package to the first finished workflow task in a
// fresh process, and the memory that an idle workflow takes in the cache of a worker. JSON on standard output. Node only.
import { spawnSync } from "node:child_process";
import { Buffer } from "node:buffer";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { coreWasmBase64 } from "../ts/core/generated/core_wasm.ts";
import { count, options, round, spread } from "./lib/measure.ts";

const HELP = `usage: npm run bench -- size [options]

--repeats=N      fresh processes whose start is timed (default 5)
--idle=N         idle workflows in the cache (default 1000)
--full           idle=10000, repeats=15`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const full = args.includes("--full");
const given = options(args, { repeats: full ? "15" : "5", idle: full ? "10000" : "1000", full: "" });

/** Runs a program of this folder in a fresh process; what it printed as JSON. */
function fresh<T>(program: URL, ...argv: string[]): T {
  const file = fileURLToPath(program);
  const { status, stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", file, ...argv], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${file} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout) as T;
}

interface Start {
  readonly importMs: number;
  readonly firstTaskMs: number;
  readonly sinceProcessStartMs: number;
}

interface Idle {
  readonly workflows: number;
  readonly heapBytes: number;
  readonly wasmBytes: number;
  readonly rssBytes: number;
}

const starts = Array.from(
  { length: count("repeats", given.repeats) },
  () => fresh<Start>(new URL("./lib/first_task.ts", import.meta.url)),
);
const { workflows, heapBytes, wasmBytes, rssBytes } = fresh<Idle>(
  new URL("./lib/idle_runs.ts", import.meta.url),
  String(count("idle", given.idle)),
);
const raw = Buffer.from(coreWasmBase64, "base64");
console.log(JSON.stringify(
  {
    bench: "size",
    runtime: `node ${process.versions.node}`,
    module: { rawBytes: raw.length, gzipBytes: gzipSync(raw, { level: 9 }).length },
    start: {
      importMs: spread(starts.map((s) => s.importMs)),
      importToFirstTaskMs: spread(starts.map((s) => s.firstTaskMs)),
      processStartToFirstTaskMs: spread(starts.map((s) => s.sinceProcessStartMs)),
    },
    idleWorkflow: {
      workflows,
      heapBytes: round(heapBytes / workflows),
      wasmBytes: round(wasmBytes / workflows),
      residentBytes: round(rssBytes / workflows),
    },
  },
  undefined,
  1,
));
