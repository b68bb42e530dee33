// One account, one program of `@temporalio/workflow`, one task queue: run by the official worker,
// by this one, and by the official one again. Each continues where the other stopped, over
// generations, and knows the updates that the other has completed.
// takes: 30 s
// runtime: node (compares servers and programs; other files cover the runtime)
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import type { Health, Receipt } from "../../../examples/entity/workflow.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { Client } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { DevServer, noServer } from "./support/dev_server.ts";
import { noOfficial, officialProgram } from "./support/official.ts";

const taskQueue = "accounts";
type Serve = (body: () => Promise<void>) => Promise<void>;

/** The official worker, in a separate process. */
const byTemporal = (address: string): Serve => async (body) => {
  const program = spawn("node", [officialProgram("entity_worker.mjs"), address, taskQueue], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const kill = () => void program.kill("SIGKILL");
  process.once("exit", kill);
  const exit = new Promise((resolve) => program.once("exit", resolve));
  try {
    await new Promise((resolve, reject) => {
      program.stdout!.once("data", resolve);
      program.once("exit", () => reject(new Error("the official worker ended")));
    });
    await body();
  } finally {
    program.kill("SIGTERM");
    await exit;
    process.off("exit", kill);
  }
};

const byOurs = (service: GrpcService): Serve => async (body) => {
  const worker = await Worker.create({
    service,
    taskQueue,
    workflows: new URL("../../../examples/entity/temporal_workflow.ts", import.meta.url),
    activities: { validateProfile: async () => {} },
    logger: silentLogger,
  });
  await worker.runUntil(body);
};

test(
  "an account goes from Temporal's own worker to ours and back, over generations",
  { skip: noServer || noOfficial },
  async () => {
    const server = await DevServer.start(["limit.historyCount.suggestContinueAsNew=60"]);
    const service = new GrpcService({ address: server.address });
    try {
      const client = new Client({ service, taskQueue, logger: silentLogger });
      const account = await client.start("userAccount", { id: "user-ada", args: ["ada"] });
      const update = (name: string, updateId: string) =>
        account.executeUpdate("updateProfile", { args: [{ name }], updateId }) as Promise<Receipt>;
      const health = () => account.query("getHealth") as Promise<Health>;
      const receipts: Receipt[] = [];
      for (
        const [turn, serve] of [
          byTemporal(server.address),
          byOurs(service),
          byTemporal(server.address),
        ].entries()
      ) {
        await serve(async () => {
          const before = turn === 0 ? 0 : (await health()).generation;
          for (let i = 0; i < 12; i++) {
            receipts.push(await update(`Ada ${turn} ${i}`, `${turn}-${i}`));
          }
          const { generation, operations } = await health();
          assert.equal(operations, 12 * (turn + 1));
          assert.ok(generation > before, `${before} to ${generation} generations`);
          for (const id of [0, 12 * turn]) {
            assert.deepEqual(
              await update("sent again", `${Math.floor(id / 12)}-${id % 12}`),
              receipts[id],
            );
          }
          assert.equal((await health()).operations, operations);
        });
      }
      assert.deepEqual(
        receipts.map(({ operation }) => operation),
        Array.from({ length: 36 }, (_, i) => i + 1),
      );
      await account.terminate();
    } finally {
      service.close();
      await server.stop();
    }
  },
);
