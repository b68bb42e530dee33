// runtime: node
// A worker file that imports only `@temporalio/*`, in separate processes: Node with `--import
// temporalex/compat/register`, ES module and CommonJS, and Deno with the import map.
// takes: 4 s
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { projectWith } from "../package_names/support.ts";
import { setting } from "./support.ts";

const { client, connection, close } = await setting();
after(close);
const { address } = connection.options;

const ACTIVITIES = `
import { activityInfo, log, sleep } from "@temporalio/activity";
export async function greet(name) {
  await sleep("10 ms");
  log.info("greeting", { name });
  return \`Hello, \${name}! (\${activityInfo().activityType})\`;
}
`;
const WORKFLOWS = `
import { proxyActivities } from "@temporalio/workflow";
const { greet } = proxyActivities({ startToCloseTimeout: "1 minute" });
export async function example(name) { return await greet(name); }
`;
const worker = (imports: string, workflows: string) =>
  `${imports}
async function run() {
  const connection = await NativeConnection.connect({ address: "${address}" });
  try {
    const worker = await Worker.create({ connection, taskQueue: process.argv[2], workflowsPath: ${workflows}, activities });
    await worker.run();
  } finally {
    await connection.close();
  }
}
run().catch((err) => { console.error(err); process.exit(1); });
`;
const ESM = worker(
  `import process from "node:process";
import { fileURLToPath } from "node:url";
import { NativeConnection, Worker } from "@temporalio/worker";
import * as activities from "./activities.mjs";`,
  `fileURLToPath(new URL("./workflows.mjs", import.meta.url))`,
);
const CJS = worker(
  `const { NativeConnection, Worker } = require("@temporalio/worker");\nconst activities = require("./activities.cjs");`,
  `require.resolve("./workflows.cjs")`,
);
/** What tsc makes of an ES module's imports and exports, as far as these have some. */
const asCommonJs = (text: string): string =>
  text.replace(/^import (\{.*\}) from (".*");$/gm, "const $1 = require($2);")
    .replace(/^export async function (\w+)/gm, "exports.$1 = $1;\nasync function $1");

/** Deno itself: what npm installs is a script, which passes on no signals. */
const script = join(process.cwd(), "node_modules/.bin/deno");
const deno = existsSync(script)
  ? spawnSync(script, ["eval", "console.log(Deno.execPath())"], { encoding: "utf8" }).stdout
    ?.trim() ?? ""
  : "";
const noDeno = deno !== "" ? false : "the npm package deno has no binary here";
const register = ["--import", "temporalex/compat/register"];
const ways: [name: string, skip: string | false, program: string, args: string[], file: string][] =
  [
    ["Node, ES module", false, process.execPath, register, "worker.mjs"],
    ["Node, CommonJS", false, process.execPath, register, "worker.cjs"],
    ["Deno", noDeno, deno, [
      "run",
      "-A",
      "--no-check",
      "--node-modules-dir=manual",
      "--import-map=map.json",
    ], "worker.mjs"],
  ];

for (const [name, skip, program, args, file] of ways) {
  test(`a worker of @temporalio/worker, unchanged: ${name}`, { skip }, async (t) => {
    const folder = projectWith(t, {
      "package.json": '{ "dependencies": { "temporalex": "*" } }',
      ...{ "activities.mjs": ACTIVITIES, "workflows.mjs": WORKFLOWS, "worker.mjs": ESM },
      ...{
        "activities.cjs": asCommonJs(ACTIVITIES),
        "workflows.cjs": asCommonJs(WORKFLOWS),
        "worker.cjs": CJS,
      },
    });
    writeFileSync(join(folder, "map.json"), readFileSync("import_map.json", "utf8"));
    const taskQueue = `unchanged-${file}-${name.length}`;
    const { NODE_OPTIONS: _options, NODE_TEST_CONTEXT: _context, ...inherited } = process.env;
    const child = spawn(program, [...args, file, taskQueue], {
      cwd: folder,
      env: { ...inherited, NO_COLOR: "1" },
    });
    t.after(() => child.kill("SIGKILL"));
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => said += data);
    const exit = new Promise<number | null>((resolve) => child.once("exit", resolve));
    const gone = exit.then((code) =>
      Promise.reject(new Error(`the worker left with ${code}: ${said}`))
    );
    const result = client.execute("example", { id: taskQueue, taskQueue, args: ["Ann"] });
    assert.equal(await Promise.race([result, gone]), "Hello, Ann! (greet)");
    gone.catch(() => {});
    child.kill("SIGTERM");
    assert.equal(await exit, 0, said);
    assert.match(said, /\[INFO\] Worker state changed \{[^}]*state: 'RUNNING'/s);
    assert.match(said, /\[INFO\] greeting \{[^}]*name: 'Ann'/s);
    assert.match(said, /state: 'STOPPED'/);
  });
}
