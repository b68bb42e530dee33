// A separate process for goodbyes.test.ts: `server` serves a service that responds at once, and
// prints its port; `client <port>` calls a server twenty times, one call after the other, and
// prints how many succeeded; `session <port>` does so by node:http2 as grpc-js uses it: with its
// listeners only, and a session that is closed within the GOAWAY event.
import { once } from "node:events";
import { connect } from "node:http2";
import process from "node:process";
import { GrpcService } from "../../../../ts/grpc/grpc_service.ts";
import { endAfterGoaway } from "../../../../ts/platform/deno_goaway_workaround.ts";
import { listen } from "../../../../ts/server/listener.ts";
import { serviceHandler } from "../../../../ts/server/grpc_handlers.ts";

if (process.argv[2] === "server") {
  const handler = serviceHandler({ call: (_, request) => Promise.resolve(request) });
  const { port } = await listen({ at: { port: 0 }, handler, keepsAlive: true });
  console.log(`port ${port}`);
} else if (process.argv[2] === "session") {
  let completed = 0;
  for (let i = 0; i < 20; i++) {
    const session = connect(`http://127.0.0.1:${process.argv[3]}`);
    endAfterGoaway(session);
    await once(session, "connect");
    session.removeAllListeners();
    session.on("error", () => {});
    session.on("goaway", () => session.close());
    const stream = session.request({
      ":method": "POST",
      ":path": "/",
      "content-type": "application/grpc",
      te: "trailers",
    });
    const trailers = once(stream, "trailers");
    stream.resume().end(new Uint8Array(5));
    await trailers;
    completed++;
    await new Promise((resolve) => setTimeout(resolve, 20));
    session.destroy();
  }
  console.log(`completed ${completed}`);
} else {
  const service = new GrpcService({ address: `127.0.0.1:${process.argv[3]}` });
  let completed = 0;
  for (let i = 0; i < 20; i++) {
    await service.call("signalWorkflowExecution", new Uint8Array(0), { timeoutMs: 20_000 });
    completed++;
    // The goodbye comes while nothing is open.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  service.close();
  console.log(`completed ${completed}`);
}
