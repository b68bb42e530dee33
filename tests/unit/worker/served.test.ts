// A worker that reaches an embedded engine over a socket: next to `temporalex dev`, or with a store
// that another process holds.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../../ts/engine/mod.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { listen } from "../../../ts/server/listener.ts";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { activities, workflow } from "../../../ts/workflow/mod.ts";

const acts = activities<{ greet(name: string): Promise<string> }>({ startToClose: "10s" });
const hello = workflow("Hello", (name: string) => acts.greet(name));

test("a worker over a socket runs workflows, and stops without canceling a poll: the engine completes its polls", async () => {
  // The server does not keep its process alive, which here is the test's.
  const awake = setInterval(() => {}, 1000);
  const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
  const listener = await listen({ at: { port: 0 }, handler: serviceHandler(engine) });
  const grpc = new GrpcService({ address: `127.0.0.1:${listener.port}` });
  const polls: AbortSignal[] = [];
  const service: RawService = {
    losesCancelledPolls: true,
    call(method, request, options = {}) {
      if (method.startsWith("poll")) polls.push(options.signal!);
      return grpc.call(method, request, options);
    },
  };
  try {
    for (let round = 0; round < 3; round++) {
      const worker = await Worker.create({
        service,
        taskQueue: "q",
        logger: silentLogger,
        workflows: [hello],
        activities: { greet: (name: string) => `hello ${name}` },
      });
      const client = new Client({ service, taskQueue: "q", logger: silentLogger });
      await worker.runUntil(async () => {
        assert.equal(await client.execute(hello, { id: `${round}`, args: ["you"] }), "hello you");
      });
    }
    assert.ok(polls.length >= 18);
    assert.deepEqual(polls.filter((signal) => signal.aborted), []);
  } finally {
    clearInterval(awake);
    grpc.close();
    await listener.close(0);
    await engine.close();
  }
});
