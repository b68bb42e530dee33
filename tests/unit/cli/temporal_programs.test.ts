// Unmodified programs of `@temporalio/workflow` on the command line: replay, worker and run; and
// `open` of the package and debug sessions, which accept the same modules.
// takes: 9 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { open } from "../../../ts/app/open.ts";
import { type Client, silentLogger } from "../../../ts/client/mod.ts";
import { openSession } from "../../../ts/debug/mod.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";
import { startCommand } from "./support/process.ts";
import { run } from "./support/run.ts";

let root = dirname(fileURLToPath(import.meta.url));
while (!existsSync(join(root, "package.json"))) root = dirname(root);
const recorded = join(root, "tests/unit/compat");

// Written so that the build, which renames modules in import declarations, leaves the texts alone.
const ts = ".ts";
const WORKFLOWS =
  `import { condition, defineSignal, proxyActivities, setHandler, sleep } from "@temporalio/workflow";
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
const ACTIVITIES =
  "export async function greet(name: string): Promise<string> { return `Hello, ${name}!`; }\n";

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-programs-"));
  writeFileSync(join(folder, "workflows.ts"), WORKFLOWS);
  writeFileSync(join(folder, "activities.ts"), ACTIVITIES);
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("temporalex replay checks a history of the official SDK with its program", async () => {
  const file = join(recorded, "histories/messages.json");
  const ok = await run([
    "replay",
    "--json",
    "--workflows",
    join(recorded, "programs/messages.ts"),
    file,
  ]);
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

/** Activities as people write them for the official SDK. */
const OFFICIAL_ACTIVITIES =
  `import { activityInfo, ApplicationFailure, cancelled, Context, heartbeat, log } from "@temporalio/activity";
import { CancelledFailure } from "@temporalio/common";
import { currency } from "money";
export async function charge(cents: number): Promise<string> {
  log.info("charging", { cents });
  heartbeat(cents);
  if (activityInfo().attempt < 2) throw ApplicationFailure.retryable("not yet", "Busy");
  return [currency(cents), Context.current().info.workflowExecution!.workflowId, activityInfo().activityType].join(" ");
}
export async function refuse(): Promise<void> {
  throw ApplicationFailure.nonRetryable("no card", "NoCard", { code: 7 });
}
export async function waits(): Promise<void> {
  const beats = setInterval(() => heartbeat(), 20);
  try {
    await cancelled();
  } catch (error) {
    if (error instanceof CancelledFailure) log.warn("stopping", { reason: error.message });
    throw error;
  } finally {
    clearInterval(beats);
  }
}
`;
const OFFICIAL_WORKFLOWS =
  `import { ActivityFailure, ApplicationFailure, CancellationScope, isCancellation, proxyActivities, sleep } from "@temporalio/workflow";
import type * as activities from "./official_activities${ts}";
const { charge, refuse, waits } = proxyActivities<typeof activities>({
  startToCloseTimeout: "1 minute", heartbeatTimeout: "1 second", retry: { initialInterval: 1 }, cancellationType: "WAIT_CANCELLATION_COMPLETED",
});
export async function pays(cents: number): Promise<unknown[]> {
  const found: unknown[] = [await charge(cents)];
  try {
    await refuse();
  } catch (error) {
    const cause = (error as ActivityFailure).cause as ApplicationFailure;
    found.push([cause.message, cause.type, cause.nonRetryable, cause.details]);
  }
  const scope = new CancellationScope();
  const waiting = scope.run(() => waits());
  await sleep(300);
  scope.cancel();
  found.push(await waiting.catch((error) => isCancellation(error)));
  return found;
}
`;

// Deno resolves names before any hook: there, an import map does it.
const inNode = "Deno" in globalThis ? () => {} : test;
inNode(
  "temporalex worker runs activities that import official packages and npm packages",
  async () => {
    writeFileSync(join(folder, "official_activities.ts"), OFFICIAL_ACTIVITIES);
    writeFileSync(join(folder, "official_workflows.ts"), OFFICIAL_WORKFLOWS);
    mkdirSync(join(folder, "node_modules/money"), { recursive: true });
    writeFileSync(
      join(folder, "node_modules/money/package.json"),
      '{ "name": "money", "main": "index.js" }',
    );
    writeFileSync(
      join(folder, "node_modules/money/index.js"),
      "exports.currency = (cents) => (cents / 100).toFixed(2);",
    );
    const store = join(folder, "official.sqlite");
    const modules = [
      "--workflows",
      "official_workflows.ts",
      "--activities",
      "official_activities.ts",
    ];
    const worker = startCommand(["worker", "--json", "--store", store, ...modules], folder);
    try {
      await worker.line("it has started", ({ event }) => event === "started");
      const on = ["--store", store, "--workflow-id", "pays-1"];
      const begun = await run(["workflow", "start", ...on, "--type", "pays", "--input", "250"], {
        cwd: folder,
      });
      assert.equal(begun.code, 0, begun.err);
      const { code, out, err } = await run(["workflow", "result", ...on], { cwd: folder });
      assert.equal(code, 0, err + out);
      const expected = ["2.50 pays-1 charge", ["no card", "NoCard", true, [{ code: 7 }]], true];
      assert.deepEqual(JSON.parse(out.slice(out.indexOf("["))), expected);
    } finally {
      assert.equal(await worker.end("SIGTERM"), 0, worker.err());
    }
    const line =
      /^info {2}charging activityType=charge activityId=1 attempt=1 workflowId=pays-1 runId=\S+ workflowType=pays cents=250$/m;
    assert.match(worker.err(), line, "each fact once");
    assert.match(worker.err(), /stopping/);
  },
);

const CONVERTER = `const utf8 = new TextEncoder(), text = new TextDecoder();
export const payloadConverter = {
  toPayload: (value: unknown) => ({ metadata: { encoding: utf8.encode("json/own") }, data: utf8.encode(JSON.stringify([value])) }),
  fromPayload({ metadata, data }: { metadata: { encoding: Uint8Array }; data: Uint8Array }) {
    const value = JSON.parse(text.decode(data));
    return text.decode(metadata.encoding) === "json/own" ? value[0] : value;
  },
};
`;

test("temporalex worker --payload-converter converts values of workflows and activities", async () => {
  writeFileSync(join(folder, "converter.ts"), CONVERTER);
  writeFileSync(
    join(folder, "converted.ts"),
    WORKFLOWS.replace("await condition(() => finished);", ""),
  );
  const args = [
    "--workflows",
    "converted.ts",
    "--activities",
    "activities.ts",
    "--payload-converter",
    "converter.ts",
  ];
  const worker = startCommand(["worker", "--json", "--store", "own.sqlite", ...args], folder);
  try {
    await worker.line("it has started", ({ event }) => event === "started");
    const on = ["--store", "own.sqlite", "--workflow-id", "own"];
    const begun = await run(
      ["workflow", "start", ...on, "--type", "greeting", "--input", '"Ada"'],
      { cwd: folder },
    );
    assert.equal(begun.code, 0, begun.err);
    // It waits for the end; the value is in an encoding that this command does not know.
    await run(["workflow", "result", ...on], { cwd: folder });
    const { out, err } = await run(["workflow", "show", ...on, "--output", "json"], {
      cwd: folder,
    });
    const own = btoa("json/own");
    const { events } = JSON.parse(out) as { events: object[] };
    const types = events.filter((event) => JSON.stringify(event).includes(own)).map((event) =>
      (event as { eventType: string }).eventType
    );
    assert.deepEqual(types, [
      "EVENT_TYPE_ACTIVITY_TASK_SCHEDULED",
      "EVENT_TYPE_ACTIVITY_TASK_COMPLETED",
      "EVENT_TYPE_WORKFLOW_EXECUTION_COMPLETED",
    ], err);
    assert.ok(out.includes(btoa('["Hello, Ada!"]')));
  } finally {
    assert.equal(await worker.end("SIGTERM"), 0, worker.err());
  }
  const none = await run([
    "worker",
    "--store",
    "own.sqlite",
    "--workflows",
    "converted.ts",
    "--payload-converter",
    "activities.ts",
  ], {
    cwd: folder,
  });
  assert.match(none.err, /activities\.ts exports no payload converter/);
});

test("temporalex worker serves a program and its activities from a store, and hot-reloads changed code", async () => {
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
    assert.deepEqual(
      [...started["workflowTypes"] as string[]].sort(),
      ["greeting", "short"],
      worker.err(),
    );
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
    writeFileSync(
      join(folder, "workflows.ts"),
      WORKFLOWS.replace("return text;", "return text.toUpperCase();"),
    );
    await worker.line("it has new code", ({ event }) => event === "replaced" || event === "refused")
      .then(({ event }) => assert.equal(event, "replaced"));
    assert.equal(
      (await run([
        "workflow",
        "signal",
        "--store",
        "w.sqlite",
        "--workflow-id",
        "g",
        "--name",
        "finish",
      ], { cwd: folder })).code,
      0,
    );
    const result = await run([
      "workflow",
      "result",
      "--store",
      "w.sqlite",
      "--workflow-id",
      "g",
      "--json",
    ], { cwd: folder });
    assert.match(result.out, /HELLO, ADA!/, result.err);
  } finally {
    assert.equal(await worker.end("SIGINT"), 0, worker.err());
  }
});

/** An activity that says how its values travel; in a worker's thread, too. */
const TYPED = `import { setActivityOptions } from "@temporalio/activity";
export async function greet({ name }: { name: string }): Promise<{ text: string }> { return { text: \`Hello, \${name}!\` }; }
setActivityOptions({ typeInfo: {
  inputTypes: [{ transferTypeConverter: {
    fromTransferType: (name: string) => { if (name === "") throw new TypeError("no name"); return { name }; },
    toTransferType: (value: any) => value.name,
  } }],
  outputType: { transferTypeConverter: { fromTransferType: (text: string) => ({ text }), toTransferType: (value: any) => value.text } },
} }, greet);
`;

inNode(
  "temporalex worker converts an activity's values by the types of its definition",
  async () => {
    writeFileSync(join(folder, "typed.ts"), TYPED);
    const once = WORKFLOWS.replace('"1 minute"', '"1 minute", retry: { maximumAttempts: 1 }');
    writeFileSync(
      join(folder, "typed_calls.ts"),
      once.replace("await condition(() => finished);", ""),
    );
    const args = ["--workflows", "typed_calls.ts", "--activities", "typed.ts"];
    const worker = startCommand(["worker", "--json", "--store", "typed.sqlite", ...args], folder);
    try {
      await worker.line("it has started", ({ event }) => event === "started");
      const on = ["--store", "typed.sqlite", "--workflow-id", "typed"];
      const begun = await run([
        "workflow",
        "start",
        ...on,
        "--type",
        "greeting",
        "--input",
        '"Ada"',
      ], { cwd: folder });
      assert.equal(begun.code, 0, begun.err);
      const result = await run(["workflow", "result", ...on, "--json"], { cwd: folder });
      assert.match(result.out, /"Hello, Ada!"/, result.err);
      const unread = ["--store", "typed.sqlite", "--workflow-id", "unread"];
      await run(["workflow", "start", ...unread, "--type", "greeting", "--input", '""'], {
        cwd: folder,
      });
      const failed = await run(["workflow", "result", ...unread], { cwd: folder });
      assert.match(failed.err, /Failed to parse activity args for activity greet: no name/);
    } finally {
      assert.equal(await worker.end("SIGINT"), 0, worker.err());
    }
  },
);

test("open() runs a program; a debug session steps through its run", async () => {
  writeFileSync(join(folder, "workflows.ts"), WORKFLOWS);
  const workflows = pathToFileURL(join(folder, "workflows.ts"));
  const app = await open({
    workflows,
    activities: { greet: (name: string) => `Hello, ${name}!` },
    logger: silentLogger,
  });
  let history: Uint8Array;
  try {
    const handle = await app.client.start("greeting", { id: "g", args: ["Grace"] });
    await handle.signal("finish");
    assert.equal(await handle.result(), "Hello, Grace!");
    history = new TextEncoder().encode(
      await (app.client as Client).getHandle(undefined, "g").historyJson(),
    );
  } finally {
    await app.close();
  }
  const realm = await createWorkerRealm({ workflows });
  try {
    const session = await openSession(history, { realm });
    assert.deepEqual([session.verdict, session.problem, session.workflowType], [
      "ok",
      undefined,
      "greeting",
    ]);
    assert.ok(session.tasks.length >= 2);
    session.runToEnd();
    assert.equal(session.position, session.length);
  } finally {
    await realm.dispose();
  }
});
