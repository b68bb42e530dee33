// A server on the runtime's own HTTP/2 that sends GOAWAY on each connection after its first call.
import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { endAfterGoaway } from "../../../../ts/platform/deno_goaway_workaround.ts";

export function goodbyeServer(): Http2Server {
  const server = createServer();
  server.on("session", (session) => {
    endAfterGoaway(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("error", () => {});
    stream.resume();
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, {
      waitForTrailers: true,
    });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    const { session } = stream;
    stream.on("close", () => setTimeout(() => session!.destroyed || session!.goaway(), 5));
    stream.end(new Uint8Array(5));
  });
  return server;
}
