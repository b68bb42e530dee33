// `temporalex workflow fire-timer`: timers by hand, through the process that holds a store and
// through `temporalex dev --timers manual`, and of workflows that were started so; for others it is
// refused.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findHolder } from "../../../ts/app/socket_path.ts";
import { open, silentLogger } from "../../../ts/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Client } from "../../../ts/client/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { timer, workflow } from "../../../ts/workflow/mod.ts";
import { inFolder } from "../engine/support/stores.ts";
import { until } from "../../support/until.ts";
import { startCommand } from "./support/process.ts";
import { run } from "./support/run.ts";

const buff = workflow("buff", async () => {
  await timer("expire", "1 day");
  await timer("fade", "10ms");
  return "over";
});

test("timers fire by name and in order in the process that has the store open; a missing timer is reported", () =>
  inFolder(async (folder) => {
    const path = join(folder, "game.sqlite");
    const fire = (...args: string[]) =>
      run(["workflow", "fire-timer", "--store", path, "-w", "buff-1", ...args]);
    const alone = await fire("--name", "expire");
    assert.equal(alone.code, 1);
    assert.match(
      alone.err,
      /no process has .*game\.sqlite open: start one to fire its manual timers/,
    );
    const app = await open({
      path,
      workflows: { buff },
      engine: { timers: "manual" },
      logger: silentLogger,
      serve: true,
    });
    try {
      await app.served;
      const handle = await app.client.start(buff, { id: "buff-1", args: [] });
      const waits = (name: string) =>
        until(
          `${name} is open`,
          () => app.engine.sql("SELECT 1 FROM workflow_timer WHERE name = ?", name).length === 1,
        );
      await waits("expire");
      const unknown = await fire("--name", "shield");
      assert.equal(unknown.code, 1);
      assert.match(
        unknown.err,
        /workflow "buff-1" has no open timer "shield"; open timers: "expire"/,
      );
      const fired = await fire("--name", "expire", "--json");
      assert.equal(fired.code, 0, fired.err);
      assert.deepEqual(JSON.parse(fired.out), {
        workflowId: "buff-1",
        name: "expire",
        fired: true,
      });
      // Also one that has been due for long waits for the hand.
      await waits("fade");
      await new Promise((resolve) => setTimeout(resolve, 50));
      assert.equal((await handle.describe()).status, "RUNNING");
      assert.match((await fire("--name", "fade")).out, /^timer fade of buff-1 fired\n$/);
      assert.equal(await handle.result(), "over");
      assert.match(
        (await run(["workflow", "fire-timer", "--store", path, "-w", "none", "--name", "x"])).err,
        /workflow "none" not found/,
      );
    } finally {
      await app.close();
    }
  }));

test("a killed process does not block the store, whatever files it left", () =>
  inFolder(async (folder) => {
    const path = join(folder, "game.sqlite");
    writeFileSync(join(folder, "workflows.ts"), "export async function none() {}\n");
    const held = ["--store", path, "--workflows", join(folder, "workflows.ts")];
    const worker = startCommand(["worker", "--json", ...held], folder);
    await worker.line("it has started", ({ event }) => event === "started");
    await until("it can be reached", () => findHolder(path));
    await worker.end("SIGKILL");
    const { code, err } = await run([
      "workflow",
      "fire-timer",
      "--store",
      path,
      "-w",
      "buff-1",
      "--name",
      "x",
    ]);
    assert.equal(code, 1);
    assert.match(err, /no process has .*game\.sqlite open: start one to fire its manual timers/);
  }));

test("workflow start --timers manual: only the timers of that workflow are manual", () =>
  inFolder(async (folder) => {
    const path = join(folder, "game.sqlite");
    const short = workflow("short", async () => {
      await timer("soon", "10ms");
      return "over";
    });
    const app = await open({ path, workflows: { short }, logger: silentLogger, serve: true });
    try {
      await app.served;
      const start = (id: string, ...args: string[]) =>
        run([
          "workflow",
          "start",
          "--store",
          path,
          "--type",
          "short",
          "-w",
          id,
          "--task-queue",
          "default",
          ...args,
        ]);
      const started = await start("held", "--timers", "manual");
      assert.equal(started.code, 0, started.err);
      assert.equal((await start("due")).code, 0);
      assert.equal(await app.client.getHandle(short, "due").result(), "over");
      assert.equal((await app.client.getHandle(short, "held").describe()).status, "RUNNING");
      const fired = await run([
        "workflow",
        "fire-timer",
        "--store",
        path,
        "-w",
        "held",
        "--name",
        "soon",
      ]);
      assert.equal(fired.code, 0, fired.err);
      assert.equal(await app.client.getHandle(short, "held").result(), "over");
      assert.match((await start("odd", "--timers", "never")).err, /--timers/);
    } finally {
      await app.close();
    }
  }));

test("firing a timer of a workflow with automatic timers is rejected", () =>
  inFolder(async (folder) => {
    const path = join(folder, "game.sqlite");
    const app = await open({ path, workflows: { buff }, logger: silentLogger, serve: true });
    try {
      await app.served;
      const handle = await app.client.start(buff, { id: "buff-1", args: [] });
      await until("it waits", () => app.engine.sql("SELECT 1 FROM workflow_timer").length === 1);
      const { code, err } = await run([
        "workflow",
        "fire-timer",
        "--store",
        path,
        "-w",
        "buff-1",
        "--name",
        "expire",
      ]);
      assert.equal(code, 1);
      assert.match(
        err,
        /timer "expire" of workflow "buff-1" fires when it is due; fireTimer needs a workflow that was started with timers: "manual"/,
      );
      assert.equal((await handle.describe()).status, "RUNNING");
    } finally {
      await app.close();
    }
  }));

test("timers fire on temporalex dev --timers manual", async () => {
  const cwd = mkdtempSync(join(tmpdir(), "temporalex-fire-"));
  const dev = startCommand(["dev", "--port", "0", "--timers", "manual", "--json"], cwd);
  try {
    const ready = await dev.line("ready", ({ event }) => event === "ready");
    const address = String(ready["address"]);
    const service = new GrpcService({ address });
    const common = { service, taskQueue: "game", logger: silentLogger };
    const worker = await Worker.create({ ...common, workflows: [buff] });
    const client = new Client(common);
    await worker.runUntil(async () => {
      const handle = await client.start(buff, { id: "buff-1", args: [] });
      for (const name of ["expire", "fade"]) {
        await until(`${name} fires`, async () => {
          const { code } = await run([
            "workflow",
            "fire-timer",
            "--address",
            address,
            "-w",
            "buff-1",
            "--name",
            name,
          ]);
          return code === 0;
        });
      }
      assert.equal(await handle.result(), "over");
    });
    service.close();
  } finally {
    await dev.end("SIGKILL");
    rmSync(cwd, { recursive: true, force: true });
  }
});
