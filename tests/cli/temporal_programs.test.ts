// Programs of `@temporalio/workflow` at the doors of the command line, as they are: replay, worker and run; and `open` of the package and
// debug sessions, which take the same modules.
// takes: 15 s
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { open } from "../../ts/app/open.ts";
import { type Client, silentLogger } from "../../ts/client/mod.ts";
import { openSession } from "../../ts/debug/mod.ts";
import { createWorkerRealm } from "../../ts/realm/mod.ts";
import { startCommand } from "./support/process.ts";
import { run } from "./support/run.ts";

let root = dirname(fileURLToPath(import.meta.url));
while (!existsSync(join(root, "package.json"))) root = dirname(root);
const recorded = join(root, "tests/compat");

// Written so that the build, which renames modules in import declarations, leaves the texts alone.
const ts = ".ts";
const WORKFLOWS = `import { condition, defineSignal, proxyActivities, setHandler, sleep } from "@temporalio/workflow";
import type * as activities from "./activities${ts}";
const { greet } = proxyActivities<typeof activities>({ startToCloseTimeout: "1 minute" });
export const finish = defineSignal("finish");
export async function greeting(name: string): Promise<string> {
  let finished = false;
  setHandler(finish, () => { finished = true; });
  const text = await greet(name);
  await sleep(10);
  await condition(() => finished);
  return text;
}
export async function short(): Promise<string> { return "short"; }
`;
const ACTIVITIES = "export async function greet(name: string): Promise<string> { return `Hello, ${name}!`; }\n";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-programs-"));
  writeFileSync(join(folder, "workflows.ts"), WORKFLOWS);
  writeFileSync(join(folder, "activities.ts"), ACTIVITIES);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("temporalex replay judges a history of the official SDK with its program", async () => {
  const file = join(recorded, "histories/messages.json");
  const ok = await run(["replay", "--json", "--workflows", join(recorded, "programs/messages.ts"), file]);
  const line = JSON.parse(ok.out.split("\n")[0]!);
  assert.deepEqual([ok.code, line.verdict, line.workflowType], [0, "ok", "messages"], ok.err);
  const changed = join(folder, "changed.ts");
  writeFileSync(
    changed,
    readFileSync(join(recorded, "programs/messages.ts"), "utf8").replace(
      "export async function messages",
      "async function before",
    ) +
      '\nimport { sleep as pause } from "@temporalio/workflow";\nexport async function messages() { await pause(1); await before(); }\n',
  );
  const diverged = await run(["replay", "--json", "--workflows", changed, file]);
  const other = JSON.parse(diverged.out.split("\n")[0]!);
  assert.deepEqual([diverged.code, other.verdict], [1, "nondeterminism"], diverged.err);
  assert.match(other.error.location, /changed\.ts:\d+:\d+/);
});

test("temporalex worker serves a program and its activities from a store, and takes changed code over", async () => {
  const worker = startCommand(
    [
      "worker",
      "--json",
      "--watch",
      "--store",
      "w.sqlite",
      "--task-queue",
      "hello",
      "--workflows",
      "workflows.ts",
      "--activities",
      "activities.ts",
    ],
    folder,
  );
  try {
    const started = await worker.line("it has started", ({ event }) => event === "started");
    assert.deepEqual([...started["workflowTypes"] as string[]].sort(), ["greeting", "short"], worker.err());
    const begun = await run([
      "workflow",
      "start",
      "--store",
      "w.sqlite",
      "--task-queue",
      "hello",
      "--type",
      "greeting",
      "--workflow-id",
      "g",
      "--input",
      '"Ada"',
    ], {
      cwd: folder,
    });
    assert.equal(begun.code, 0, begun.err);
    writeFileSync(join(folder, "workflows.ts"), WORKFLOWS.replace("return text;", "return text.toUpperCase();"));
    await worker.line("it has new code", ({ event }) => event === "replaced" || event === "refused").then(({ event }) =>
      assert.equal(event, "replaced")
    );
    assert.equal(
      (await run(["workflow", "signal", "--store", "w.sqlite", "--workflow-id", "g", "--name", "finish"], { cwd: folder })).code,
      0,
    );
    const result = await run(["workflow", "result", "--store", "w.sqlite", "--workflow-id", "g", "--json"], { cwd: folder });
    assert.match(result.out, /HELLO, ADA!/, result.err);
  } finally {
    assert.equal(await worker.end("SIGINT"), 0, worker.err());
  }
});

test("open() runs a program; a debug session steps through its run", async () => {
  writeFileSync(join(folder, "workflows.ts"), WORKFLOWS);
  const workflows = pathToFileURL(join(folder, "workflows.ts"));
  const app = await open({ workflows, activities: { greet: (name: string) => `Hello, ${name}!` }, logger: silentLogger });
  let history: Uint8Array;
  try {
    const handle = await app.client.start("greeting", { id: "g", args: ["Grace"] });
    await handle.signal("finish");
    assert.equal(await handle.result(), "Hello, Grace!");
    history = new TextEncoder().encode(await (app.client as Client).getHandle(undefined, "g").historyJson());
  } finally {
    await app.close();
  }
  const realm = await createWorkerRealm({ workflows });
  try {
    const session = await openSession(history, { realm });
    assert.deepEqual([session.verdict, session.problem, session.workflowType], ["ok", undefined, "greeting"]);
    assert.ok(session.tasks.length >= 2);
    session.runToEnd();
    assert.equal(session.position, session.length);
  } finally {
    await realm.dispose();
  }
});
