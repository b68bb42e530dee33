// runtime: node
// takes: 80 s
// The examples of deployed workers after copying the folder, changing the one line and installing
// the package: real processes on a real server, in Deno with exactly the permissions of its
// deno.json. Probes, metrics and logs; SIGTERM during an activity; no work lost.
import assert from "node:assert/strict";
import {
  type ChildProcess,
  spawn,
  type SpawnOptionsWithoutStdio,
  spawnSync,
} from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, test } from "node:test";
import { Client } from "../../../ts/client/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Connection } from "../../../ts/grpc/connection.ts";
import { freePort } from "../../support/ports.ts";
import { parseExposition, sampleOf, totalOf } from "../../support/prometheus.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { root } from "./support/official.ts";
import { until } from "../../support/until.ts";

const work = mkdtempSync(join(tmpdir(), "temporalex-deploy-"));
let server: DevServer;
let connection: Connection;
let client: Client;
const children = new Set<ChildProcess>();

/**
 * Deno itself and not the script of its npm package, which does not forward signals; undefined if
 * it is not installed.
 */
function findDeno(): string | undefined {
  const script = join(root, "node_modules/.bin/deno");
  if (!existsSync(script)) return undefined;
  const found = spawnSync(script, ["eval", "console.log(Deno.execPath())"], { encoding: "utf8" });
  return found.status === 0 ? found.stdout.trim() : undefined;
}

const deno = noServer === false ? findDeno() : undefined;
// Node 20 runs what types were taken out of.
const typescript = (process.features as { typescript?: unknown }).typescript !== undefined &&
  (process.features as { typescript?: unknown }).typescript !== false;

interface Ended {
  readonly status: number | null;
  readonly said: string;
}

/**
 * Runs a program to its end. Never in a way that holds this process up: the other runtime's tests
 * are looking at what passes.
 */
function runToEnd(command: readonly string[], options: SpawnOptionsWithoutStdio): Promise<Ended> {
  const child = spawn(command[0]!, command.slice(1), {
    ...options,
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  let said = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.setEncoding("utf8").on("data", (text) => said += text);
  }
  return new Promise((resolve, reject) =>
    child.once("error", reject).once("close", (status) => {
      children.delete(child);
      resolve({ status, said });
    })
  );
}

/** The folder as a user has it. */
async function setUp(name: string): Promise<string> {
  const folder = join(work, name);
  const source = name === "node-worker" && !typescript
    ? join(root, "dist/examples", name)
    : join(root, "examples", name);
  cpSync(source, folder, { recursive: true, filter: (path) => !path.includes("node_modules") });
  const manifest = readFileSync(join(root, "examples", name, "package.json"), "utf8");
  // The one line.
  const changed = manifest.replace(
    /"temporalex": "[^"]*"/,
    `"temporalex": "file:${join(work, "temporalex-0.1.0.tgz")}"`,
  );
  assert.equal(changed.split("\n").filter((line, i) => line !== manifest.split("\n")[i]).length, 1);
  writeFileSync(join(folder, "package.json"), changed);
  const flags = [
    "--prefer-offline",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--omit=optional",
  ];
  // (What Node's brings for development is a compiler.)
  if (name === "node-worker") flags.push("--omit=dev");
  const installed = await runToEnd(["npm", "install", ...flags], { cwd: folder });
  assert.equal(installed.status, 0, installed.said);
  return folder;
}

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
  connection = await Connection.connect({ address: server.address });
  client = new Client({ service: connection, logger: silentLogger });
  const packed = spawnSync(process.execPath, [
    join(root, "tools/pack.mjs"),
    "--out",
    join(work, "package"),
    "--no-page",
  ], {
    encoding: "utf8",
  });
  assert.equal(packed.status, 0, packed.stderr + packed.stdout);
}, { timeout: 240_000 });

after(async () => {
  await Promise.all([...children].map((child) => {
    child.kill("SIGKILL");
    return new Promise((resolve) => child.once("close", resolve));
  }));
  await connection?.close();
  await server?.stop();
  rmSync(work, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly url: string;
  readonly exited: Promise<number | null>;
  /** What it wrote: standard output, standard error. */
  out(): string;
  err(): string;
}

async function run(
  command: readonly string[],
  cwd: string,
  env: { [name: string]: string } = {},
): Promise<Started> {
  const health = `127.0.0.1:${await freePort()}`;
  const child = spawn(command[0]!, command.slice(1), {
    cwd,
    env: {
      PATH: process.env["PATH"],
      HOME: work,
      NO_COLOR: "1",
      ...(process.env["DENO_DIR"] !== undefined && { DENO_DIR: process.env["DENO_DIR"] }),
      TEMPORAL_ADDRESS: server.address,
      HEALTH_ADDRESS: health,
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.add(child);
  let out = "";
  let err = "";
  child.stdout!.on("data", (chunk) => out += chunk);
  child.stderr!.on("data", (chunk) => err += chunk);
  const exited = new Promise<number | null>((resolve) =>
    child.once("close", (code) => {
      children.delete(child);
      resolve(code);
    })
  );
  return { child, url: `http://${health}`, exited, out: () => out, err: () => err };
}

/** Asks until it is so; fails with what the process said, at once if it has ended. */
async function untilOf(started: Started, what: string, ask: () => Promise<boolean>): Promise<void> {
  const about = () => started.err() + started.out();
  const ended = () => started.child.exitCode !== null;
  await until(what, async () => ended() || await ask(), { retryErrors: true, about });
  assert.ok(!ended(), `the worker ended while ${what} was awaited: ${about()}`);
}

const status = async (url: string) => (await fetch(url)).status;
const scrape = async (started: Started) =>
  parseExposition(await (await fetch(`${started.url}/metrics`)).text());

/** The records of the log: each line is one JSON object. */
function records(started: Started): { time: string; level: string; message: string }[] {
  return started.out().trim().split("\n").map((line) => JSON.parse(line));
}

const RUNTIMES = [
  {
    name: "deno-worker",
    skip: noServer || (deno === undefined && "no Deno here"),
    start: (
      ...options: string[]
    ) => [deno!, "task", "--quiet", "start", "--task-queue", "deno-worker", ...options],
    order: (
      ...options: string[]
    ) => [deno!, "task", "--quiet", "order", "--task-queue", "deno-worker", ...options],
    tests: () => [[deno!, "task", "--quiet", "test"], [deno!, "task", "--quiet", "check"]],
  },
  {
    name: "node-worker",
    skip: noServer,
    start: (
      ...options: string[]
    ) => [
      process.execPath,
      typescript ? "main.ts" : "main.js",
      "--task-queue",
      "node-worker",
      ...options,
    ],
    order: (
      ...options: string[]
    ) => [
      process.execPath,
      typescript ? "order.ts" : "order.js",
      "--task-queue",
      "node-worker",
      ...options,
    ],
    tests: () => [[process.execPath, "--test", typescript ? "order.test.ts" : "order.test.js"]],
  },
];

test("the Deno task lists each permission, and no permission that allows everything", () => {
  const { tasks } = JSON.parse(readFileSync(join(root, "examples/deno-worker/deno.json"), "utf8"));
  const flags = (tasks.start.command as string).split(" ").filter((word) => word.startsWith("-"));
  assert.deepEqual(flags.map((flag) => flag.split("=")[0]), [
    "--no-prompt",
    "--allow-net",
    "--allow-read",
    "--allow-env",
  ]);
  assert.equal(flags[1], "--allow-net=$TEMPORAL_ADDRESS,$HEALTH_ADDRESS");
  assert.equal(flags[2], "--allow-read=.");
  assert.match(flags[3]!, /^--allow-env=[A-Z_]+(,[A-Z_]+)*$/);
});

const workers = ({ name, skip, start, order, tests }: typeof RUNTIMES[number]) => {
  let folder = "";

  test(
    `${name}: probes, metrics, logs; SIGTERM in the middle of an activity lets it finish`,
    { skip, timeout: 240_000 },
    async () => {
      folder = await setUp(name);
      const first = await run(start(), folder);
      await untilOf(first, "readiness", async () => await status(`${first.url}/readyz`) === 200);
      assert.equal(await status(`${first.url}/healthz`), 200);
      assert.equal(await status(`${first.url}/nothing`), 404);
      assert.equal((await fetch(`${first.url}/metrics`, { method: "POST" })).status, 405);
      const printed = await run(order("pen", "3"), folder);
      assert.equal(await printed.exited, 0, printed.err());
      assert.deepEqual(JSON.parse(printed.out().trim().split("\n").at(-1)!), {
        total: 6,
        parcel: "3 x pen",
      });

      const handle = await client.start("Order", {
        taskQueue: name,
        id: `${name}-1`,
        // Long enough for everything that is looked at before it ends, on a slow machine too.
        args: [{ item: "book", count: 20, packingMs: 500 }],
      });
      await untilOf(first, "the activity", async () => {
        const families = await scrape(first);
        return sampleOf(families, "temporal_worker_task_slots_used", {
              worker_type: "ActivityWorker",
            }) === 1 &&
          totalOf(families, "temporal_activity_task_received") === 4;
      });
      const families = await scrape(first);
      assert.ok(
        sampleOf(families, "temporal_workflow_completed", {
          service_name: name,
          workflow_type: "Order",
        })! >= 1,
      );
      assert.equal(
        (await fetch(`${first.url}/metrics`)).headers.get("content-type"),
        "text/plain; version=0.0.4; charset=utf-8",
      );
      first.child.kill("SIGTERM");
      await untilOf(
        first,
        "the end of readiness",
        async () => await status(`${first.url}/readyz`) === 503,
      );
      assert.equal(await status(`${first.url}/healthz`), 200);
      assert.equal(await first.exited, 0, first.err());
      const log = records(first);
      assert.deepEqual(log.filter(({ level }) => level !== "info"), []);
      assert.deepEqual(log.map(({ message }) => message).filter((message) => /^st/.test(message)), [
        "started",
        "stopping",
        "stopped",
      ]);
      for (const { time } of log) assert.equal(new Date(time).toISOString(), time);

      // The activity finished in its first attempt; the workflow waits for a worker, and so does
      // what was started since.
      const later = await client.start("Order", {
        taskQueue: name,
        id: `${name}-2`,
        args: [{ item: "pen", count: 1 }],
      });
      assert.deepEqual((await handle.describe()).pendingActivities, []);
      const second = await run(start("--log-level", "warn"), folder);
      assert.deepEqual(await handle.result(), { total: 240, parcel: "20 x book" });
      assert.deepEqual(await later.result(), { total: 2, parcel: "1 x pen" });
      second.child.kill("SIGTERM");
      assert.equal(await second.exited, 0, second.err());
      assert.equal(second.out(), "", "nothing to warn of");
    },
  );

  test(`${name}: its own tests and checks pass`, { skip, timeout: 240_000 }, async () => {
    for (const command of tests()) {
      const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
      const { status, said } = await runToEnd(command, {
        cwd: folder,
        env: { ...env, NO_COLOR: "1" },
      });
      assert.equal(status, 0, said);
    }
  });

  test(
    `${name}: an activity that outlasts the grace period resumes on another worker`,
    { skip, timeout: 240_000 },
    async () => {
      const first = await run(start("--grace", "1"), folder);
      const handle = await client.start("Order", {
        taskQueue: name,
        id: `${name}-3`,
        args: [{ item: "book", count: 20, packingMs: 400 }],
      });
      await untilOf(first, "the first of them", async () => {
        const [pending] = (await handle.describe()).pendingActivities;
        return pending?.activityType === "pack" && Number(pending.heartbeatDetails) >= 1;
      });
      first.child.kill("SIGTERM");
      assert.equal(await first.exited, 0, first.err());
      assert.ok(
        records(first).some(({ level, message }) =>
          level === "warn" && message === "an activity failed"
        ),
        first.out(),
      );
      const second = await run(start(), folder);
      assert.deepEqual(await handle.result(), { total: 240, parcel: "20 x book" });
      const packing = records(second).find(({ message }) => message === "packing") as unknown as {
        packed: number;
        attempt: number;
      };
      assert.ok(packing.attempt >= 2);
      assert.ok(packing.packed >= 1, "the new attempt begins where the last one stopped");
      second.child.kill("SIGTERM");
      assert.equal(await second.exited, 0);
    },
  );

  test(
    `${name}: an error is reported, and the process ends`,
    { skip, timeout: 240_000 },
    async () => {
      const wrong = async (env: { [name: string]: string }, ...options: string[]) => {
        const started = await run(start(...options), folder, env);
        const code = await started.exited;
        return { code, said: started.err() + started.out() };
      };
      const option = await wrong({}, "--grase", "3");
      assert.equal(option.code, 2);
      assert.match(option.said, /grase[^]*usage:/);
      const tls = await wrong({ TEMPORAL_TLS: "perhaps" });
      assert.notEqual(tls.code, 0);
      assert.match(tls.said, /"level":"error"[^]*TEMPORAL_TLS must be/);
      const profile = await wrong({ TEMPORAL_PROFILE: "prod" });
      assert.match(profile.said, /"level":"error"[^]*\(TEMPORAL_PROFILE\) was not found/);
      const namespace = await wrong({ TEMPORAL_NAMESPACE: "absent-namespace" });
      assert.notEqual(namespace.code, 0);
      assert.match(namespace.said, /"level":"error"[^]*absent-namespace/);
    },
  );

  test(`${name}: a profile of a TOML file in its folder`, { skip, timeout: 240_000 }, async () => {
    writeFileSync(
      join(folder, "temporal.toml"),
      `[profile.here]\naddress = "${server.address}"\nnamespace = "default"\n`,
    );
    const env = { TEMPORAL_CONFIG_FILE: "temporal.toml", TEMPORAL_ADDRESS: server.address };
    const started = await run(start("--profile", "here"), folder, env);
    await untilOf(started, "readiness", async () => await status(`${started.url}/readyz`) === 200);
    started.child.kill("SIGTERM");
    assert.equal(await started.exited, 0, started.err());
  });
};

// Each waits most of the time: for work to be packed, for polls to end.
describe("deployed workers", { concurrency: 2 }, () => {
  for (const runtime of RUNTIMES) {
    describe(runtime.name, { concurrency: 1 }, () => workers(runtime));
  }
});
