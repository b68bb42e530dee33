#!/usr/bin/env node
// Programs written for the official SDK, as they are: each is copied to a scratch folder in which
// `@temporalio` is not installed, its worker and its clients are started with tsx and the hooks of
// this package, on a development server of Temporal and on `temporalex dev`, and what the clients
// print is compared with their output with the official SDK (baseline.json next to the programs).
//
// The programs call localhost:7233, so all of it runs in a separate network namespace if the system
// has `unshare`.
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { buildDist } from "../build_dist.mjs";
import { installTools } from "../docs_api.mjs";
import { root } from "../lib/steps.mjs";

const HELP =
  `usage: node tools/soak/temporal_samples.mjs [--samples FOLDER] [--on official|temporalex] [--keep] [NAME...]

FOLDER (default ../shared/samples) holds programs of temporalio/samples-typescript and baseline.json. NAME: only programs whose name holds it.
Needs the registry for what the programs depend on, and Temporal's command line for --on official. Default: both servers.`;

const args = process.argv.slice(2);
const valueOf = (name) => args.includes(name) ? args.splice(args.indexOf(name), 2)[1] : undefined;
const flag = (name) => args.includes(name) && args.splice(args.indexOf(name), 1).length > 0;
if (flag("--help") || flag("-h")) {
  console.log(HELP);
  process.exit(0);
}
const inside = flag("--inside");
const keep = flag("--keep");
const samples = resolve(valueOf("--samples") ?? join(root, "../shared/samples"));
const only = valueOf("--on");
const given = valueOf("--home");

/** What the programs import besides the official SDK. */
const DEPENDENCIES = {
  "async-mutex": "0.5.0",
  cors: "2.8.5",
  cuid: "2.1.8",
  ejson: "2.2.3",
  express: "4.21.2",
  "js-yaml": "4.1.0",
  nanoid: "3.3.11",
  uuid: "8.3.2",
  yargs: "16.2.0",
};
/** Programs whose client says that the workflow failed. */
const EXIT = { saga: 1 };

/** Processes that run, so that all are ended with this one. */
const children = new Set();
function start(command, argv, options) {
  const child = spawn(command, argv, {
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    ...options,
  });
  const started = {
    child,
    output: "",
    ended: new Promise((done) => child.on("close", (code) => done(code))),
  };
  children.add(child);
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (data) => (started.output += data));
  }
  void started.ended.then(() => children.delete(child));
  return started;
}
function kill(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended.
  }
}
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
async function until(what, look, ms) {
  for (const end = Date.now() + ms; Date.now() < end; await pause(100)) if (await look()) return;
  throw new Error(`${what} did not come within ${ms / 1000} s`);
}
const listens = (port) =>
  new Promise((done) => {
    const socket = connect(port, "127.0.0.1", () => (socket.destroy(), done(true)));
    socket.on("error", () => done(false));
  });

/** What differs from run to run is left out: ids, times, paths. */
const plain = (output) =>
  // deno-lint-ignore no-control-regex
  output.replace(/\x1b\[[0-9;]*m/g, "")
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "<uuid>")
    .replace(/([a-z]-|: |')[A-Za-z0-9_-]{21}(?![A-Za-z0-9_-])/g, "$1<nanoid>")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>").replace(/\/\S*\/samples\//g, "").slice(0, 1500);

async function makeHome() {
  const home = mkdtempSync(join(tmpdir(), "temporalex-samples-"));
  writeFileSync(
    join(home, "package.json"),
    JSON.stringify({ private: true, dependencies: DEPENDENCIES }),
  );
  const npm = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], {
    cwd: home,
    encoding: "utf8",
  });
  if (npm.status !== 0) throw new Error(`npm install failed: ${npm.stderr}`);
  const problem = await installTools();
  if (problem !== undefined) throw new Error(problem);
  symlinkSync(root, join(home, "node_modules/temporalex"), "dir");
  return home;
}

const tsx = join(root, "tests/system/package/node_modules/.bin/tsx");
const program = (file) => [tsx, ["--import", "temporalex/compat/register", ...file.split(" ")]];

async function runSample(home, name, { runs }) {
  const cwd = join(home, "samples", name);
  rmSync(cwd, { recursive: true, force: true });
  mkdirSync(cwd, { recursive: true });
  cpSync(join(samples, name), cwd, { recursive: true });
  const env = { ...process.env, NODE_ENV: "development" };
  const worker = start(...program("src/worker.ts"), { cwd, env });
  try {
    await until(
      "RUNNING",
      () => /RUNNING/.test(worker.output) || worker.child.exitCode !== null,
      60_000,
    ).catch(() => {});
    if (!/RUNNING/.test(worker.output)) {
      return {
        name,
        ok: false,
        why: `the worker does not run: ${plain(worker.output).slice(-600)}`,
      };
    }
    await pause(600);
    const differs = [];
    for (const { client, out } of runs) {
      const run = start(...program(client), { cwd, env });
      const timer = setTimeout(() => kill(run.child, "SIGKILL"), 90_000);
      const code = await run.ended;
      clearTimeout(timer);
      const { output } = run;
      if (code !== (EXIT[name] ?? 0)) {
        return {
          name,
          ok: false,
          why: `${client} ended with ${code}: ${plain(output)}\n--- worker\n${
            plain(worker.output).slice(-800)
          }`,
        };
      }
      if (plain(output) !== out) {
        differs.push(`${client} printed\n${plain(output)}\n--- instead of\n${out}`);
      }
    }
    return { name, ok: true, differs };
  } finally {
    kill(worker.child, "SIGTERM");
    await Promise.race([worker.ended, pause(8000)]);
    kill(worker.child, "SIGKILL");
  }
}

const SERVERS = {
  official: ["temporal", [
    "server",
    "start-dev",
    "--headless",
    "--port",
    "7233",
    "--log-level",
    "error",
  ]],
  temporalex: [process.execPath, [join(root, "dist/ts/cli/main.js"), "dev", "--port", "7233"]],
};

async function main() {
  const baseline = JSON.parse(readFileSync(join(samples, "baseline.json"), "utf8"));
  const chosen = Object.entries(baseline).filter(([name, { ok }]) =>
    ok && existsSync(join(samples, name))
  )
    .filter(([name]) => args.length === 0 || args.some((part) => name.includes(part)));
  let failed = 0;
  for (
    const [server, [command, argv]] of Object.entries(SERVERS).filter(([name]) =>
      only === undefined || name === only
    )
  ) {
    if (await listens(7233)) throw new Error("something listens on port 7233 already");
    const running = start(command, argv, { cwd: given });
    try {
      await until(`the server (${command})`, () => listens(7233), 60_000);
      await pause(1000);
      for (const [name, expected] of chosen) {
        const { ok, why, differs = [] } = await runSample(given, name, expected);
        if (!ok) failed++;
        console.log(
          `${ok ? "ok" : "not ok"} - ${server}: ${name}${
            !ok ? `\n${why}` : differs.length === 0 ? ", the same output" : ", other output"
          }`,
        );
        for (const difference of differs) console.log(difference.replace(/^/gm, "    "));
      }
    } finally {
      kill(running.child, "SIGTERM");
      await Promise.race([running.ended, pause(5000)]);
      kill(running.child, "SIGKILL");
    }
  }
  console.log(failed === 0 ? "all ran" : `${failed} did not run`);
  process.exitCode = failed === 0 ? 0 : 1;
}

if (!existsSync(join(samples, "baseline.json"))) {
  console.log(`skip - ${samples} has no baseline.json: name the folder with --samples`);
} else if (!inside) {
  buildDist();
  const home = await makeHome();
  const again = [
    process.execPath,
    fileURLToPath(import.meta.url),
    "--inside",
    "--home",
    home,
    "--samples",
    samples,
  ];
  const rest = [...only === undefined ? [] : ["--on", only], ...args];
  const alone = spawnSync("unshare", ["-rn", "true"]).status === 0;
  const [command, ...argv] = alone
    ? ["unshare", "-rn", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...again, ...rest]
    : [...again, ...rest];
  const { status } = spawnSync(command, argv, { stdio: "inherit" });
  if (keep) console.log(`kept: ${home}`);
  else rmSync(home, { recursive: true, force: true });
  process.exitCode = status ?? 1;
} else {
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(1));
  process.on("exit", () => children.forEach((child) => kill(child, "SIGKILL")));
  await main();
}
