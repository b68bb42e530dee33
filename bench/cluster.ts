// runtime: node
// This package's worker in Node and in Deno compared with the worker of the official SDK, against
// real Temporal dev servers, alternating in one run. Each worker is a separate process and alone
// with a fresh server while it is measured; the load comes from this process, the same for all, so
// only the worker differs. The server's rate limits are lifted, or they would decide.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { availableParallelism, cpus, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { Client, silentLogger } from "../ts/client/mod.ts";
import { GrpcService } from "../ts/grpc/grpc_service.ts";
import { DevServer, noServer } from "../tests/system/interop/support/dev_server.ts";
import { noOfficial } from "../tests/system/interop/support/official.ts";
import { amounts, type Point, point, samplesOf } from "./cluster/memory.ts";
import { type Bench, MEASURES, type Samples, start, warmUp } from "./cluster/measures.ts";
import { rows, table } from "./cluster/table.ts";
import { cpuSeconds, type Variant, Variants, type WorkerProcess } from "./cluster/variants.ts";
import { count, options } from "./lib/measure.ts";

const PARTS = [...Object.keys(MEASURES), "memory", "start", "size"];
const HELP = `usage: npm run bench -- cluster [options]

Takes about seven minutes; on a machine with nothing else to do its figures mean something. Needs a Temporal dev server (TEMPORAL_CLI, or \`temporal\`), Temporal's SDK (npm ci in tests/system/interop) and Linux (/proc).

--workers=A,B      node, deno (ours), official (Temporal's SDK, workflows bundled ahead), sources (it bundles at its start; start alone)
                   (default: all)
--only=A,B         ${PARTS.join(", ")} (default: all)
--repeats=N        rounds; in each every worker is measured once, each round another one first (default 3)
--seconds=N        length of one measure of throughput (default 4)
--in-flight=N      workflows in flight at throughput (default 50)
--messages=N       signals and updates, one after the other, at latency (default 120)
--idle=N           cached workflows at memory, in the largest of five processes; a quarter of it for Temporal's SDK (default 8000)
--starts=N         fresh processes at start (default 5)
--profile=DIR      V8's CPU profiles of the workers in Node
--json             JSON instead of a table
--package=DIR      the published package, made by tools/pack.mjs (npm run bench makes it); without it the checkout is measured`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const given = options(args, {
  ...{
    workers: "node,deno,official,sources",
    only: PARTS.join(","),
    repeats: "3",
    seconds: "4",
    "in-flight": "50",
  },
  ...{ messages: "120", idle: "8000", starts: "5", profile: "", json: "", package: "" },
});
const chosen = <T extends string>(option: "workers" | "only", known: readonly T[]): T[] =>
  given[option].split(",").map((name) => {
    if (!known.includes(name as T)) {
      console.error(`bench cluster: --${option} takes ${known.join(", ")}, not "${name}"`);
      process.exit(2);
    }
    return name as T;
  });
const variants = chosen<Variant>("workers", ["node", "deno", "official", "sources"]);
const parts = chosen("only", PARTS);
const settings = {
  repeats: count("repeats", given.repeats),
  seconds: count("seconds", given.seconds),
  inFlight: count("in-flight", given["in-flight"]),
  messages: count("messages", given.messages, 2),
  idle: count("idle", given.idle, 100),
  starts: count("starts", given.starts),
};
const official = variants.some((variant) => variant === "official" || variant === "sources");
for (
  const absent of [
    noServer,
    official && noOfficial && `${noOfficial}; or leave it out: --workers=node,deno`,
  ]
) {
  if (absent === false) continue;
  console.error(`bench cluster: ${absent}`);
  process.exit(2);
}

/**
 * Far above what one machine can do: the server does what it can instead of what it may. A dev
 * server has one shard, and a shard looks for new work at most 20 times per second; a cluster has
 * hundreds of them.
 */
const UNLIMITED = [
  ...["frontend.rps", "frontend.namespaceRPS", "history.rps", "matching.rps"],
  ...["frontend.persistenceMaxQPS", "history.persistenceMaxQPS", "matching.persistenceMaxQPS"],
  ...["system.visibilityPersistenceMaxWriteQPS", "frontend.namespaceRPS.visibility"],
  ...["transfer", "timer", "visibility", "outbound"].map((queue) =>
    `history.${queue}ProcessorMaxPollRPS`
  ),
].map((key) => `${key}=1000000`);

/**
 * With several partitions a task that waits in one of them is found at once or after two seconds,
 * by chance, whichever worker polls: that is the server's time and would hide a start's.
 */
const ONE_PARTITION = ["Read", "Write"].map((kind) => `matching.numTaskqueue${kind}Partitions=1`);

const samples = new Map<Variant, Samples>(variants.map((variant) => [variant, {}]));
function note(variant: Variant, more: Samples): void {
  const of = samples.get(variant)!;
  for (const [name, values] of Object.entries(more)) (of[name] ??= []).push(...values);
}
const say = (line: string) =>
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

/** A fresh server and a client of it. */
async function withServer(
  body: (server: DevServer, client: Client) => Promise<void>,
  more: readonly string[] = [],
): Promise<void> {
  const server = await DevServer.start([...UNLIMITED, ...more]);
  const service = new GrpcService({ address: server.address });
  try {
    await body(server, new Client({ service, logger: silentLogger }));
  } finally {
    service.close();
    await server.stop();
  }
}

interface Session {
  readonly variant: Variant;
  readonly server: DevServer;
  readonly client: Client;
  readonly name: string;
  readonly cached?: number;
  readonly inspect?: boolean;
}

async function withWorker(
  { variant, server, client, name, cached = 0, inspect = false }: Session,
  body: (bench: Bench) => Promise<void>,
) {
  const taskQueue = `${name}-${variant}`;
  const profile = given.profile === "" ? undefined : given.profile;
  const worker: WorkerProcess = processes.start({
    variant,
    address: server.address,
    taskQueue,
    cached,
    profile,
    inspect,
  });
  try {
    await worker.ready();
    await body({ ...settings, client, worker, taskQueue, serverCpu: () => cpuSeconds(server.pid) });
  } finally {
    await worker.stop(profile !== undefined);
  }
}

const folder = mkdtempSync(join(tmpdir(), "temporalex-cluster-"));
const processes = Variants.make(variants, folder, given.package);
const began = Date.now();
try {
  const working = variants.filter((variant) => variant !== "sources");
  const measures = Object.entries(MEASURES).filter(([name]) => parts.includes(name));
  for (let round = 0; round < settings.repeats && measures.length > 0; round++) {
    for (let i = 0; i < working.length; i++) {
      const variant = working[(i + round) % working.length]!;
      await withServer((server, client) =>
        withWorker({ variant, server, client, name: `round-${round}` }, async (bench) => {
          await warmUp(bench);
          for (const [name, measure] of measures) {
            const got = await measure(bench);
            note(variant, got);
            say(
              `${variant} ${name}: ${
                Object.values(got).map((values) => values.map((v) => v.toPrecision(4))).join(", ")
              }`,
            );
          }
        })
      );
    }
  }
  if (parts.includes("start")) {
    await withServer(async (server, client) => {
      for (let i = 0; i < settings.starts; i++) {
        for (const variant of variants) {
          const taskQueue = `start-${i}-${variant}`;
          note(
            variant,
            await start(
              client,
              taskQueue,
              () => processes.start({ variant, address: server.address, taskQueue }),
            ),
          );
        }
      }
    }, ONE_PARTITION);
    say("start measured");
  }
  if (parts.includes("memory")) {
    for (const variant of working) {
      const points: Point[] = [];
      await withServer(async (server, client) => {
        for (
          const workflows of amounts(variant === "official" ? settings.idle / 4 : settings.idle)
        ) {
          const session = {
            variant,
            server,
            client,
            name: `memory-${workflows}`,
            cached: workflows + 1000,
            inspect: true,
          };
          await withWorker(
            session,
            async (bench) => void points.push(await point(bench, workflows)),
          );
          const { resident, heap } = points.at(-1)!;
          say(
            `${variant} with ${workflows}: ${Math.round(resident / 1e6)} MB resident, ${
              (heap / 1e6).toFixed(1)
            } MB of live heap`,
          );
        }
      });
      note(variant, samplesOf(points));
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
if (parts.includes("size")) {
  const ours = given.package === ""
    ? undefined
    : sizeOf(given.package) + dependenciesOf(given.package);
  // The official SDK's compiler is in optional packages, one for each platform; this package has no
  // such packages.
  for (const variant of variants) {
    const bytes = variant === "node" || variant === "deno"
      ? ours
      : variant === "official"
      ? installed("tests/system/interop")
      : undefined;
    if (bytes !== undefined) note(variant, { "production install: MB": [bytes / 1e6] });
  }
}

/** Bytes of the files of a folder. */
function sizeOf(path: string): number {
  return readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => {
    const inner = join(path, entry.name);
    return sum + (entry.isDirectory() ? sizeOf(inner) : entry.isFile() ? statSync(inner).size : 0);
  }, 0);
}

/** Bytes of the packages that a published package names; they have no dependencies. */
function dependenciesOf(folder: string): number {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    dependencies: object;
  };
  return Object.keys(dependencies).reduce(
    (sum, name) => sum + sizeOf(join("node_modules", name)),
    0,
  );
}

/**
 * Bytes of the packages that a lock file installs, without development packages, and with the
 * optional ones that are there.
 */
function installed(project: string): number {
  const lock = JSON.parse(readFileSync(join(project, "package-lock.json"), "utf8")) as {
    packages: { [path: string]: { dev?: boolean; optional?: boolean; devOptional?: boolean } };
  };
  return Object.entries(lock.packages).reduce((sum, [path, entry]) => {
    // Packages within packages are counted with those.
    if (path === "" || entry.dev || entry.devOptional || path.lastIndexOf("node_modules/") > 0) {
      return sum;
    }
    const folder = join(project, path);
    return entry.optional && !existsSync(folder) ? sum : sum + sizeOf(folder);
  }, 0);
}

const result = rows(samples);
if (given.json !== "") {
  const { node } = process.versions;
  const machine = `${availableParallelism()} cores, ${cpus()[0]?.model ?? "unknown"}`;
  const seconds = Math.round((Date.now() - began) / 1000);
  console.log(
    JSON.stringify(
      { bench: "cluster", machine, node, ...settings, took: seconds, rows: result },
      undefined,
      1,
    ),
  );
} else {
  console.log(table(result, variants));
}
