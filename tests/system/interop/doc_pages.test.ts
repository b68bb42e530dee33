// runtime: node
// The pages of the documentation that need a cluster, as a reader follows them: their programs run
// against a real Temporal dev server, in the order of the page, with the worker that the page
// starts. (tests/system/docs checks their types, and runs what needs no cluster.)
import assert from "node:assert/strict";
import { type ChildProcess, execFile, execFileSync, spawn } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { readPage } from "../docs/page.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";

const root = process.cwd();
let server: DevServer;
const folders: string[] = [];
const workers: ChildProcess[] = [];

before(async () => {
  if (noServer !== false) return;
  server = await DevServer.start();
});
after(async () => {
  for (const worker of workers) {
    if (worker.exitCode !== null || worker.signalCode !== null) continue;
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.kill("SIGTERM");
    await ended;
  }
  await server?.stop();
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The page's files in a folder, with this server's address. */
function project(page: string): string {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-pages-"));
  folders.push(folder);
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (!name.startsWith(".") && name !== "temporalex") {
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
    }
  }
  symlinkSync(root, join(folder, "node_modules/temporalex"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  for (const block of readPage(readFileSync(join(root, "docs", page), "utf8"))) {
    if (block.kind === "file") {
      writeFileSync(
        join(folder, block.name),
        block.text.replaceAll("localhost:7233", server.address),
      );
    }
  }
  return folder;
}

const HOOK = ["--no-warnings", "--import", join(root, "tests/system/docs/ts_hook.mjs")];
const node = async (folder: string, file: string) =>
  (await promisify(execFile)(process.execPath, [...HOOK, file], {
    cwd: folder,
    encoding: "utf8",
    timeout: 180_000,
  })).stdout;
const temporalex = async (folder: string, ...args: string[]) =>
  (await promisify(execFile)(process.execPath, [
    join(root, "dist/ts/cli/main.js"),
    ...args,
    "--address",
    server.address,
  ], {
    cwd: folder,
    encoding: "utf8",
    timeout: 180_000,
  })).stdout;

async function worker(folder: string, queue: string): Promise<void> {
  const args = [
    "worker",
    "--workflows",
    "workflows.ts",
    "--task-queue",
    queue,
    "--address",
    server.address,
  ];
  const child = spawn(process.execPath, [join(root, "dist/ts/cli/main.js"), ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  workers.push(child);
  let said = "";
  for (const stream of [child.stdout!, child.stderr!]) stream.on("data", (chunk) => said += chunk);
  await until("the worker is ready", () => /shop|reports/.test(said) || child.exitCode !== null);
  assert.equal(child.exitCode, null, said);
}

test("docs/schedules.md", { skip: noServer }, async () => {
  const folder = project("schedules.md");
  await worker(folder, "reports");
  assert.match(await node(folder, "schedule.ts"), /^next: \d{4}-\d\d-\d\dT/);
  assert.match(
    await node(folder, "schedule.ts"),
    /^next: /,
    "a second start finds the schedule there",
  );
  await until(
    "it is listed",
    async () => /daily-report +Report/.test(await temporalex(folder, "schedule", "list")),
  );
  await node(folder, "change.ts");
  await assert.rejects(
    temporalex(folder, "schedule", "describe", "-s", "daily-report"),
    /schedule daily-report/,
  );
});

test("docs/client.md", { skip: noServer }, async () => {
  const folder = project("client.md");
  await worker(folder, "shop");
  assert.equal(await node(folder, "update_with_start.ts"), "1 2\n");
  assert.equal(await node(folder, "priorities.ts"), "{ customer: 'ada', items: [] }\n");
  const repaired = node(folder, "repair.ts");
  await assert.rejects(repaired, /event/i, "this cart has no event 12 to go back to");
});

test("docs/search-attributes.md", { skip: noServer }, async () => {
  const folder = project("search-attributes.md");
  const lines = readFileSync(join(root, "docs/search-attributes.md"), "utf8").matchAll(
    /^temporal (operator .*)$/gm,
  );
  for (const [, words] of lines) {
    execFileSync(temporalCli()!, [...words!.split(" "), "--address", server.address]);
  }
  writeFileSync(
    join(folder, "start.ts"),
    `import { Client } from "temporalex";
import { Connection } from "temporalex/temporal";
import { amount, customer } from "./attributes${".ts"}";
const connection = await Connection.connect({ address: "${server.address}" });
const client = new Client({ service: connection, taskQueue: "unpolled" });
await client.start("Order", { id: "found", searchAttributes: [{ key: customer, value: "ada" }, { key: amount, value: 12.5 }] });
connection.close();
`,
  );
  await node(folder, "start.ts");
  await until(
    "it is found",
    async () => (await node(folder, "find.ts")) === "found 12.5\n{ RUNNING: 1 }\n",
  );
});
