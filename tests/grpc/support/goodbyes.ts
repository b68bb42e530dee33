// A process of its own for goodbyes.test.ts: `server` serves a service that answers at once, and prints its port; `client <port>` calls a
// server twenty times, one call after the other, and prints how many were answered.
import process from "node:process";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { listen } from "../../../ts/server/listener.ts";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";

if (process.argv[2] === "server") {
  const handler = serviceHandler({ call: (_, request) => Promise.resolve(request) });
  const { port } = await listen({ at: { port: 0 }, handler, keepsAlive: true });
  console.log(`port ${port}`);
} else {
  const service = new GrpcService({ address: `127.0.0.1:${process.argv[3]}` });
  let answered = 0;
  for (let i = 0; i < 20; i++) {
    await service.call("signalWorkflowExecution", new Uint8Array(0), { timeoutMs: 20_000 });
    answered++;
    // The goodbye comes while nothing is open.
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  service.close();
  console.log(`answered ${answered}`);
}
