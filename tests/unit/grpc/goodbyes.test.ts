// A GOAWAY while no call is open, to a server and to a connection of this package: neither process
// crashes (ts/platform/deno_goaway_workaround.ts).
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Http2Server } from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { endAfterGoaway } from "../../../ts/platform/deno_goaway_workaround.ts";
import { kill, nextLine, startModule } from "../engine/support/child.ts";
import { goodbyeServer } from "./support/goodbye_server.ts";

const own = import.meta.url.endsWith(".js") ? "./support/goodbyes.js" : "./support/goodbyes.ts";
const start = (...args: string[]) =>
  // glibc then overwrites freed memory, so that no read of it succeeds by chance.
  startModule(new URL(own, import.meta.url), args, { MALLOC_PERTURB_: "165" });

test("a server survives callers that send GOAWAY", async () => {
  const child = start("server");
  try {
    const port = Number(/^port (\d+)$/.exec(await nextLine(child))![1]);
    for (let i = 0; i < 10; i++) {
      const session = connect(`http://127.0.0.1:${port}`);
      session.on("error", () => {});
      // The server replies with a GOAWAY itself.
      endAfterGoaway(session);
      const stream = session.request({
        ":method": "POST",
        ":path": "/temporal.api.workflowservice.v1.WorkflowService/SignalWorkflowExecution",
        "content-type": "application/grpc",
        te: "trailers",
      });
      const trailers = once(stream, "trailers");
      stream.resume().end(new Uint8Array(5));
      assert.equal((await trailers)[0]["grpc-status"], "0", `call ${i}: ${child.errors()}`);
      const closed = once(session, "close");
      session.goaway();
      await new Promise((resolve) => setTimeout(resolve, 20));
      session.destroy();
      await closed;
      assert.equal(child.process.exitCode ?? child.process.signalCode, null, child.errors());
    }
  } finally {
    await kill(child);
  }
});

test("a client survives servers that send GOAWAY, and reconnects", async () => {
  assert.ok(await countResponses("client") > 1);
});

test("a session survives GOAWAY when its user removes all listeners and closes it at once", async () => {
  assert.equal(await countResponses("session"), 20);
});

/** Runs twenty calls to a server that says goodbye after each; the number of its connections. */
async function countResponses(caller: "client" | "session"): Promise<number> {
  let connections = 0;
  const server: Http2Server = goodbyeServer();
  server.on("session", () => connections++);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const child = start(caller, String((server.address() as AddressInfo).port));
  try {
    assert.equal(await nextLine(child), "completed 20", child.errors());
    return connections;
  } finally {
    await kill(child);
    server.close();
  }
}
