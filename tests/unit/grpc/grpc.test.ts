// The gRPC transport against a server made here: what goes over the wire, and every way in which a
// call can fail.
import assert from "node:assert/strict";
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import { after, before, test } from "node:test";
import { toBinary } from "@bufbuild/protobuf";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { endAfterGoaway } from "../../../ts/platform/deno_goaway_workaround.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { create } from "@bufbuild/protobuf";
import { StartWorkflowExecutionRequestSchema } from "../../../ts/messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";

type Answer = (stream: ServerHttp2Stream, body: Uint8Array, headers: IncomingHttpHeaders) => void;

let server: Http2Server, port = 0, answer: Answer = () => {};
const sockets = new Set<Socket>();
/** Cuts all connections, as a crashed server or a network would. */
const cut = () => {
  for (const socket of sockets) socket.destroy();
};

const framed = (body: Uint8Array) => {
  const frame = new Uint8Array(5 + body.length);
  new DataView(frame.buffer).setUint32(1, body.length);
  frame.set(body, 5);
  return frame;
};

/** Responds to a call as gRPC does: a message, then status and details in the trailers. */
function reply(
  stream: ServerHttp2Stream,
  body: Uint8Array | undefined,
  trailers: { [name: string]: string },
): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(body === undefined ? undefined : framed(body));
}

before(async () => {
  server = createServer();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("session", (session) => {
    endAfterGoaway(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    const parts: Uint8Array[] = [];
    stream.on("data", (part: Uint8Array) => parts.push(part));
    stream.on("end", () => answer(stream, Buffer.concat(parts).subarray(5), headers));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as { port: number }).port;
});

after(() => {
  cut();
  server.close();
});

async function withService<T>(use: (service: GrpcService) => Promise<T>, more = {}): Promise<T> {
  const service = new GrpcService({ address: `127.0.0.1:${port}`, ...more });
  try {
    return await use(service);
  } finally {
    service.close();
  }
}

const failsWith = (code: number, message = /./) => (error: unknown) => {
  assert.ok(error instanceof ServiceError, String(error));
  assert.equal(error.code, code, error.message);
  assert.match(error.message, message);
  return true;
};

test("requests and responses pass through byte for byte", async () => {
  const request = toBinary(
    StartWorkflowExecutionRequestSchema,
    create(StartWorkflowExecutionRequestSchema, {
      namespace: "n",
      workflowId: "w",
      workflowType: { name: "T" },
    }),
  );
  // A field that no version knows, in front of one that all know, and one field twice.
  const odd = Uint8Array.of(0xfa, 0x7f, 2, 1, 2, 0x0a, 1, 65, 0x0a, 1, 66, 0x18, 0x96, 1);
  let path = "", headers: IncomingHttpHeaders = {}, body = new Uint8Array(0);
  answer = (stream, sent, given) => {
    [path, headers, body] = [String(given[":path"]), given, Uint8Array.from(sent)];
    reply(stream, odd, { "grpc-status": "0" });
  };
  const response = await withService((service) => service.call("startWorkflowExecution", request), {
    metadata: { "x-y": "z" },
  });
  assert.deepEqual(response, odd);
  assert.deepEqual(body, request);
  assert.equal(path, "/temporal.api.workflowservice.v1.WorkflowService/StartWorkflowExecution");
  assert.equal(headers["client-name"], "temporalex-ts");
  assert.equal(headers["x-y"], "z");
  assert.match(String(headers["grpc-timeout"]), /^\d{1,8}m$/);
  assert.equal(headers["authorization"], undefined);
});

test("an API key is requested before each call", async () => {
  const seen: unknown[] = [];
  answer = (stream, _body, headers) => {
    seen.push(headers["authorization"]);
    reply(stream, new Uint8Array(0), { "grpc-status": "0" });
  };
  let n = 0;
  await withService(async (service) => {
    await service.call("getSystemInfo", new Uint8Array(0));
    await service.call("getSystemInfo", new Uint8Array(0));
  }, { tls: false, apiKey: () => Promise.resolve(`key${++n}`) });
  assert.deepEqual(seen, ["Bearer key1", "Bearer key2"]);
});

test("an error has its code, and the name and fields of its details", async () => {
  const text = (s: string) => [s.length, ...new TextEncoder().encode(s)];
  const type =
    "type.googleapis.com/temporal.api.errordetails.v1.WorkflowExecutionAlreadyStartedFailure";
  const failure = [0x0a, ...text("req"), 0x12, ...text("run")];
  const any = [0x0a, ...text(type), 0x12, failure.length, ...failure];
  const status = Uint8Array.from([
    0x08,
    6,
    0x12,
    ...text("already there"),
    0x1a,
    any.length,
    ...any,
  ]);
  answer = (stream) =>
    reply(stream, undefined, {
      "grpc-status": "6",
      "grpc-message": "already there",
      "grpc-status-details-bin": Buffer.from(status).toString("base64"),
    });
  await withService((service) =>
    assert.rejects(
      service.call("startWorkflowExecution", new Uint8Array(0)),
      (error: ServiceError) => {
        failsWith(Code.ALREADY_EXISTS, /^already there$/)(error);
        assert.equal(error.reason, "WorkflowExecutionAlreadyStarted");
        assert.deepEqual(error.metadata, { start_request_id: "req", run_id: "run" });
        return true;
      },
    )
  );
});

test("deadlines, canceled calls, and closed connections", async () => {
  answer = () => {};
  await withService(async (service) => {
    await assert.rejects(
      service.call("getSystemInfo", new Uint8Array(0), { timeoutMs: 40.5 }),
      failsWith(Code.DEADLINE_EXCEEDED),
    );
    const abort = new AbortController();
    const waiting = service.call("pollWorkflowTaskQueue", new Uint8Array(0), {
      signal: abort.signal,
    });
    setTimeout(() => abort.abort(), 20);
    await assert.rejects(waiting, failsWith(Code.CANCELLED, /canceled by its caller/));
    const open = service.call("pollWorkflowTaskQueue", new Uint8Array(0));
    setTimeout(() => service.close(), 20);
    await assert.rejects(open, failsWith(Code.CANCELLED, /closed/));
    await assert.rejects(
      service.call("getSystemInfo", new Uint8Array(0)),
      failsWith(Code.CANCELLED, /closed/),
    );
  });
});

test("a lost connection is UNAVAILABLE in every case, and is reopened", async () => {
  await withService(async (service) => {
    const ways: Answer[] = [
      (stream) => stream.close(8), // RST_STREAM CANCEL, which this side did not request
      (stream) => stream.close(7), // REFUSED_STREAM
      cut,
      (stream) => {
        stream.respond({ ":status": 200, "content-type": "application/grpc" });
        stream.write(framed(Uint8Array.of(0x0a, 1)).subarray(0, 6));
        setTimeout(cut, 10);
      },
      (stream) => reply(stream, undefined, { "grpc-status": "14", "grpc-message": "down" }),
    ];
    for (const way of ways) {
      answer = way;
      await assert.rejects(
        service.call("getSystemInfo", new Uint8Array(0), { timeoutMs: 60_000 }),
        failsWith(Code.UNAVAILABLE),
      );
    }
    answer = (stream) => reply(stream, Uint8Array.of(0x0a, 0), { "grpc-status": "0" });
    assert.deepEqual(
      await service.call("getSystemInfo", new Uint8Array(0)),
      Uint8Array.of(0x0a, 0),
    );
  });
  const absent = new GrpcService({ address: "127.0.0.1:1" });
  await assert.rejects(
    absent.call("getSystemInfo", new Uint8Array(0)),
    failsWith(Code.UNAVAILABLE),
  );
  absent.close();
});

test("a server without gRPC, and invalid addresses", async () => {
  answer = (stream) => {
    stream.respond({ ":status": 404, "content-type": "text/html" });
    stream.end("<html>");
  };
  await withService((service) =>
    assert.rejects(
      service.call("getSystemInfo", new Uint8Array(0)),
      (error) => error instanceof ServiceError,
    )
  );
  for (const address of ["http://x:7233", "x", "", "a b:1", "x:7233/path"]) {
    assert.throws(() => new GrpcService({ address }), /host:port/, address);
  }
  assert.throws(
    () => new GrpcService({ address: "x:1", tls: { clientKey: "k" } }),
    /set both tls\.clientCertificate and tls\.clientKey/,
  );
});
