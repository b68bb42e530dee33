// A server of `temporalex dev` in this process, for the tests of one file: two namespaces in
// memory, and ways to call it.
import { connect, type IncomingHttpHeaders } from "node:http2";
import { after, before } from "node:test";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { silentLogger } from "../../../../ts/client/mod.ts";
import "../../../../ts/engine/mod.ts";
import { WorkflowService } from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { type DevServer, startDevServer } from "../../../../ts/dev/server.ts";
import { GrpcService } from "../../../../ts/grpc/grpc_service.ts";
import { endAfterGoaway } from "../../../../ts/platform/deno_goaway_workaround.ts";

/** A page that may call the server. */
export const ORIGIN = "http://localhost:5173";

export let server: DevServer, service: GrpcService;
let connected: Http2SessionManager;

export const typed = () =>
  createClient(
    WorkflowService,
    createGrpcTransport({ baseUrl: connected.authority, sessionManager: connected }),
  );

before(async () => {
  server = await startDevServer({
    port: 0,
    httpPort: 0,
    origins: [ORIGIN],
    namespaces: ["default", "orders"],
    storeOf: () => undefined,
    logger: silentLogger,
  });
  service = new GrpcService({ address: `127.0.0.1:${server.port}` });
  connected = new Http2SessionManager(`http://127.0.0.1:${server.port}`);
});

after(async () => {
  service.close();
  // Before the server closes its connections (GOAWAY): in Deno that may crash others
  // (ts/platform/deno_goaway_workaround.ts).
  connected.abort();
  await server.close();
});

/** One gRPC call by hand: headers, trailers and messages as they are on the wire. */
export async function grpc(
  path: string,
  body = new Uint8Array(0),
  headers: { [name: string]: string } = {},
) {
  const session = connect(`http://127.0.0.1:${server.port}`, { maxSessionMemory: 512 });
  endAfterGoaway(session);
  const stream = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  const frame = new Uint8Array(5 + body.length);
  new DataView(frame.buffer).setUint32(1, body.length);
  frame.set(body, 5);
  stream.end(frame);
  let head: IncomingHttpHeaders = {}, trailers: IncomingHttpHeaders = {};
  stream.on("response", (got) => head = got).on("trailers", (got) => trailers = got);
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  session.close();
  const status = trailers["grpc-status"] ?? head["grpc-status"];
  const message = decodeURIComponent(
    String(trailers["grpc-message"] ?? head["grpc-message"] ?? ""),
  );
  return { http: head[":status"], status, message, body: new Uint8Array(Buffer.concat(chunks)) };
}
