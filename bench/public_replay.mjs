// Processor time of a replay through `Worker.runReplayHistories`, of the official worker
// (tests/system/interop/node_modules) and of the compat package, in turn over the same decoded histories.
// JSON on standard output.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const HELP =
  `usage: node bench/public_replay.mjs --from=DIR [options]     (needs dist/ and \`npm ci\` in tests/system/interop)

--from=DIR       a folder of histories (NAME.bin) and their program, workflows.official.ts
--repeats=N      replays of each history that count, after a first one (default 5)
--rounds=N       processes of each package, in turn (default 3)`;

const { values } = parseArgs({
  options: {
    from: { type: "string" },
    repeats: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    sdk: { type: "string" },
    help: { type: "boolean" },
  },
});
if (values.help || values.from === undefined) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}

const root = fileURLToPath(new URL("..", import.meta.url));
const from = resolve(values.from);
const workflowsPath = join(from, "workflows.official.ts");
const median = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1];

async function packages(sdk) {
  if (sdk === "ours") {
    const load = (name) => import(pathToFileURL(join(root, `dist/ts/compat/${name}/mod.js`)).href);
    const { Worker } = await load("worker");
    return { Worker, options: { workflowsPath }, temporal: (await load("proto")).temporal };
  }
  const peer = join(root, "tests/system/interop");
  const require = createRequire(join(peer, "package.json"));
  const { bundleWorkflowCode, DefaultLogger, Runtime, Worker } = require("@temporalio/worker");
  const logger = new DefaultLogger("ERROR", () => {});
  Runtime.install({ logger, telemetryOptions: { logging: { filter: "OFF", forward: {} } } });
  const modules = [join(peer, "node_modules"), "node_modules"];
  const workflowBundle = await bundleWorkflowCode({
    workflowsPath,
    logger,
    webpackConfigHook: (config) => ({ ...config, resolve: { ...config.resolve, modules } }),
  });
  return { Worker, options: { workflowBundle }, temporal: require("@temporalio/proto").temporal };
}

/** Milliseconds of processor time of each replay, all threads, by history. */
async function measure(sdk) {
  const { Worker, options, temporal } = await packages(sdk);
  const found = {};
  for (const file of readdirSync(from).filter((name) => name.endsWith(".bin")).sort()) {
    const history = temporal.api.history.v1.History.decode(readFileSync(join(from, file)));
    const times = found[file.slice(0, -4)] = [];
    let before;
    const feed = function* () {
      for (let n = 0; n <= Number(values.repeats); n++) {
        before = process.cpuUsage();
        yield { workflowId: `w${n}`, history };
      }
    };
    for await (const { error } of Worker.runReplayHistories(options, feed())) {
      if (error !== undefined) throw error;
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1000);
    }
    times.shift();
  }
  return found;
}

if (values.sdk !== undefined) {
  console.log(JSON.stringify(await measure(values.sdk)));
  process.exit(0);
}
const times = { official: {}, ours: {} };
for (let round = 0; round < Number(values.rounds); round++) {
  for (const sdk of ["official", "ours"]) {
    const { sdk: _, help: __, ...rest } = values;
    const args = Object.entries({ ...rest, sdk }).map(([name, value]) => `--${name}=${value}`);
    const found = JSON.parse(
      execFileSync(process.execPath, [fileURLToPath(import.meta.url), ...args], {
        encoding: "utf8",
      }),
    );
    for (const [name, list] of Object.entries(found)) (times[sdk][name] ??= []).push(...list);
  }
}
const rows = Object.keys(times.ours).map((history) => {
  const official = median(times.official[history]), ours = median(times.ours[history]);
  const round = (number) => Number(number.toFixed(1));
  return {
    history,
    officialMs: round(official),
    oursMs: round(ours),
    times: round(official / ours),
  };
});
const mean = Math.exp(
  rows.reduce((sum, row) => sum + Math.log(row.officialMs / row.oursMs), 0) / rows.length,
);
console.log(JSON.stringify({ rows, mean: Number(mean.toFixed(1)) }, undefined, 2));
