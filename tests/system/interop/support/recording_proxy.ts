// A proxy between a worker and a Temporal server that records the worker's completions of workflow
// tasks, as sent over the wire.
import { connect, createServer, type Http2Server } from "node:http2";
import { gunzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import {
  type RespondWorkflowTaskCompletedRequest,
  RespondWorkflowTaskCompletedRequestSchema,
} from "../../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

const COMPLETED = "/temporal.api.workflowservice.v1.WorkflowService/RespondWorkflowTaskCompleted";
/** gRPC's frame: a flag (1: gzip), four bytes of length. */
const HEAD = 5;

/** Hop-by-hop fields, which the other session sets itself. */
const own = (headers: object) =>
  Object.fromEntries(
    Object.entries(headers).filter(([name]) =>
      !/^(connection|host|:status|:scheme|:authority)$/.test(name)
    ),
  );

export class RecordingProxy {
  readonly address: string;
  readonly completions: RespondWorkflowTaskCompletedRequest[] = [];
  readonly #server: Http2Server;
  readonly #stop: () => void;

  private constructor(server: Http2Server, address: string, stop: () => void) {
    this.#server = server;
    this.address = address;
    this.#stop = stop;
  }

  static async start(target: string): Promise<RecordingProxy> {
    const upstream = connect(`http://${target}`);
    const server = createServer();
    const sessions = new Set<{ destroy(): void }>();
    server.on("session", (session) => sessions.add(session));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const proxy = new RecordingProxy(server, `127.0.0.1:${port}`, () => {
      upstream.destroy();
      for (const session of sessions) session.destroy();
    });
    server.on("stream", (stream, headers) => {
      const call = upstream.request({ ...own(headers) });
      const body: Uint8Array[] = [];
      stream.on("data", (chunk: Uint8Array) => {
        body.push(chunk);
        call.write(chunk);
      });
      stream.on("end", () => {
        if (headers[":path"] === COMPLETED) proxy.#keep(Buffer.concat(body));
        call.end();
      });
      call.on("response", (answer) => {
        stream.respond({ ":status": 200, ...own(answer) }, { waitForTrailers: true });
        call.on("data", (chunk: Uint8Array) => stream.write(chunk));
      });
      let trailers: object = {};
      call.on("trailers", (given) => (trailers = own(given)));
      stream.on("wantTrailers", () => stream.sendTrailers({ ...trailers }));
      call.on("end", () => stream.end());
      for (const [one, other] of [[stream, call], [call, stream]] as const) {
        one.on("error", () => {});
        one.on("close", () => {
          if (!other.closed && one.rstCode !== 0) other.close(one.rstCode);
        });
      }
    });
    return proxy;
  }

  #keep(frame: Buffer): void {
    const body = frame.subarray(HEAD);
    this.completions.push(
      fromBinary(
        RespondWorkflowTaskCompletedRequestSchema,
        frame[0] === 1 ? gunzipSync(body) : body,
      ),
    );
  }

  async stop(): Promise<void> {
    this.#stop();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}
