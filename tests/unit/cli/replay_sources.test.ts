// `temporalex replay --store` and `--from-cluster`: which runs, samples, and what cannot be had.
// takes: 4 s
// runtime: node (long; shorter files of this room run in each runtime)
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import type { ReplayLine, SummaryLine } from "../../../ts/cli/commands/replay/run.ts";
import { startDevServer } from "../../../ts/dev/server.ts";
import { EmbeddedEngine } from "../../../ts/engine/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { sleep, waitForSignal, workflow } from "../../../ts/workflow/mod.ts";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";
import { ScriptedService } from "../../support/scripted_service.ts";
import { Servers } from "../grpc/support/servers.ts";
import { createServer } from "node:http2";
import { run as runCommand } from "./support/run.ts";

const quick = workflow("Quick", async (name: string) => {
  await sleep("1ms");
  return `done ${name}`;
});
const waits = workflow("Waits", async () => await waitForSignal({ kind: "signal", name: "go" }));
const MODULE = `import { sleep, waitForSignal, workflow } from "temporalex/workflow";
export const quick = workflow("Quick", async (name: string) => {
  await sleep("1ms");
  return "done " + name;
});
export const waits = workflow("Waits", async () => await waitForSignal({ kind: "signal", name: "go" }));
`;

let folder = "";
before(() => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-replay-sources-"));
  writeFileSync(join(folder, "workflows.ts"), MODULE);
  writeFileSync(join(folder, "changed.ts"), MODULE.replace('await sleep("1ms");', "await 1;"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** Twelve closed runs of one type, three open ones of another. */
async function fill(service: RawService): Promise<void> {
  const client = new Client({ service, taskQueue: "q", logger: silentLogger });
  const options = { service, taskQueue: "q", realm: "inline", logger: silentLogger } as const;
  const worker = await Worker.create({ ...options, workflows: [{ quick, waits }] });
  await worker.runUntil(async () => {
    await Promise.all(
      Array.from(
        { length: 12 },
        (_, i) => client.execute(quick, { id: `quick-${i}`, args: [`secret ${i}`] }),
      ),
    );
    for (let i = 0; i < 3; i++) await client.start(waits, { id: `waits-${i}` });
  });
}

async function run(...args: string[]) {
  const result = await runCommand(["replay", "--workflows", "workflows.ts", ...args], {
    cwd: folder,
  });
  const written = result.out.trim().split("\n").filter((line) => line !== "").map((line) =>
    JSON.parse(line)
  );
  const lines = written.slice(0, -1) as ReplayLine[];
  return { ...result, lines, summary: written.at(-1)?.summary as SummaryLine };
}

const idsOf = (lines: readonly ReplayLine[]) =>
  lines.map(({ workflowId }) => workflowId).toSorted();

test("a run of a store that replays is summarized in one line", async () => {
  const engine = await EmbeddedEngine.open({ path: join(folder, "one.sqlite") });
  try {
    const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
    const options = {
      service: engine,
      taskQueue: "q",
      realm: "inline",
      logger: silentLogger,
    } as const;
    const worker = await Worker.create({ ...options, workflows: [{ quick, waits }] });
    await worker.runUntil(() => client.execute(quick, { id: "only", args: ["x"] }));
    const of = (workflows: string) =>
      runCommand(
        ["replay", "--workflows", workflows, "--store", "one.sqlite", "--output", "text"],
        { cwd: folder },
      );
    const good = await of("workflows.ts");
    assert.equal(good.code, 0, good.err);
    assert.match(good.out, /^1 history: 1 ok \(\d+\.\d s\)\n$/);
    const bad = await of("changed.ts");
    assert.equal(bad.code, 1, bad.err);
    assert.match(bad.out, /^nondeterminism[\s\S]*\n1 history: 1 nondeterminism \(\d+\.\d s\)\n$/);
  } finally {
    await engine.close();
  }
});

test("--store replays the runs of a store, also while an engine has it open, and does not write", async () => {
  const path = join(folder, "shop.sqlite");
  const engine = await EmbeddedEngine.open({ path });
  try {
    await fill(engine);
    const all = await run("--store", "shop.sqlite");
    assert.equal(all.code, 0, all.out + all.err);
    assert.deepEqual(all.summary.verdicts, { ok: 15, nondeterminism: 0, failed: 0, unreadable: 0 });
    assert.match(
      all.lines[0]!.file,
      new RegExp(`^${all.lines[0]!.workflowId}/${all.lines[0]!.runId}$`),
    );
    assert.ok(all.lines.every(({ events, activations }) => events > 2 && activations > 0));
    assert.doesNotMatch(all.out, /secret/);
    const open = await run("--store", "shop.sqlite", "--open");
    assert.deepEqual(idsOf(open.lines), ["waits-0", "waits-1", "waits-2"]);
    const sample = await run("--store", "shop.sqlite", "--sample", "2", "--seed", "a");
    assert.deepEqual(sample.lines.map(({ workflowType }) => workflowType).toSorted(), [
      "Quick",
      "Quick",
      "Waits",
      "Waits",
    ]);
    assert.deepEqual(
      idsOf((await run("--store", "shop.sqlite", "--sample", "2", "--seed", "a")).lines),
      idsOf(sample.lines),
    );
  } finally {
    await engine.close();
  }
  const before = readFileSync(path);
  const changed = await run("--store", "shop.sqlite", "--workflows", "changed.ts");
  assert.equal(changed.code, 2, "two modules define one workflow");
  const diverges = await runCommand([
    "replay",
    "--workflows",
    "changed.ts",
    "--store",
    "shop.sqlite",
  ], { cwd: folder });
  assert.equal(diverges.code, 1);
  const { groups } = JSON.parse(diverges.out.trim().split("\n").at(-1)!).summary as SummaryLine;
  assert.deepEqual(groups.map(({ workflowType, runs, verdict }) => [workflowType, runs, verdict]), [
    [
      "Quick",
      12,
      "nondeterminism",
    ],
  ]);
  assert.deepEqual(readFileSync(path), before);
});

test("--from-cluster replays the runs that a query selects, and samples them by type", async () => {
  const logger = silentLogger;
  const server = await startDevServer({
    port: 0,
    namespaces: ["default"],
    storeOf: () => undefined,
    logger,
  });
  const service = new GrpcService({ address: `127.0.0.1:${server.port}` });
  const address = ["--address", `127.0.0.1:${server.port}`];
  try {
    await fill(service);
    const all = await run("--from-cluster", "", ...address);
    assert.equal(all.code, 0, all.out + all.err);
    assert.equal(all.summary.verdicts.ok, 15);
    const open = await run("--from-cluster", 'ExecutionStatus = "Running"', ...address);
    assert.deepEqual(idsOf(open.lines), ["waits-0", "waits-1", "waits-2"]);
    const sample = await run("--from-cluster", "", "--sample", "2", ...address);
    assert.deepEqual(sample.lines.map(({ workflowType }) => workflowType).toSorted(), [
      "Quick",
      "Quick",
      "Waits",
      "Waits",
    ]);
    const none = await run("--from-cluster", 'WorkflowType = "Nothing"', ...address);
    assert.deepEqual([none.code, none.summary.histories], [0, 0]);
    const refused = await run("--from-cluster", "what?", ...address);
    assert.equal(refused.code, 2, refused.err);
    const other = await run("--from-cluster", "", ...address, "--namespace", "nowhere");
    assert.equal(other.code, 2);
    assert.match(other.err, /nowhere/);
  } finally {
    service.close();
    await server.close();
  }
  const away = await run("--from-cluster", "", ...address, "--timeout", "200ms");
  assert.equal(away.code, 2);
  assert.match(away.err, /cannot reach a Temporal cluster at 127\.0\.0\.1:\d+ \(/);
});

test("a run deleted after listing is counted as gone, and an unavailable history is reported", async () => {
  const execution = (workflowId: string) => ({
    execution: { workflowId, runId: `run-of-${workflowId}` },
    type: { name: "Quick" },
  });
  const service = new ScriptedService()
    .on("countWorkflowExecutions", () => ({ count: 2n }))
    .on("listWorkflowExecutions", () => ({ executions: [execution("gone"), execution("locked")] }))
    .on("getWorkflowExecutionHistory", ({ execution }) => {
      if (execution!.workflowId === "gone") {
        throw new ServiceError(Code.NOT_FOUND, "workflow not found");
      }
      throw new ServiceError(Code.PERMISSION_DENIED, "not for you");
    });
  const servers = new Servers();
  try {
    const socket = join(folder, "cluster.sock");
    await servers.serve("cluster", createServer(serviceHandler(service)), socket);
    const result = await run("--from-cluster", "", "--address", `unix:${socket}`);
    assert.equal(result.code, 2, result.err);
    assert.deepEqual(result.lines.map(({ file, verdict }) => [file, verdict]), [[
      "locked/run-of-locked",
      "unreadable",
    ]]);
    assert.match(result.lines[0]!.error!.message, /not for you/);
    assert.deepEqual([result.summary.histories, result.summary.gone], [1, 1]);
  } finally {
    await servers.close();
  }
});
