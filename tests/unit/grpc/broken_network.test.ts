// What a connection owes its calls when the network or the server misbehaves: half-open connections
// are found, a server that says goodbye is left without losing a call, limits are kept, and calls
// that were never touched are sent again.
// takes: 8 s
import assert from "node:assert/strict";
import {
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, beforeEach, test } from "node:test";
import { Worker } from "node:worker_threads";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { endAfterGoaway } from "../../../ts/platform/deno_goaway_workaround.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { ChaosProxy, type Mishap, seeded } from "../../faults/chaos/proxy.ts";
import { until } from "../../support/until.ts";

type Answer = (
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  session: ServerHttp2Session,
) => void;
let server: Http2Server, port = 0, answer: Answer;
const sessions = new Set<ServerHttp2Session>();
const sockets = new Set<Socket>();
let made = 0;
const services: GrpcService[] = [];

async function serve(settings: object = {}): Promise<void> {
  server = createServer({ settings });
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  server.on("session", (session) => {
    endAfterGoaway(session);
    made++;
    sessions.add(session);
    session.on("error", () => {});
    session.on("close", () => sessions.delete(session));
    session.on("stream", (stream, headers) => {
      stream.on("error", () => {});
      stream.on("data", () => {});
      stream.on("end", () => answer(stream, headers, session));
    });
  });
  server.on("sessionError", () => {});
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
}

/** An empty message, and status 0. */
function reply(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return;
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(new Uint8Array(5));
}

function connection(more = {}): GrpcService {
  const service = new GrpcService({ address: `127.0.0.1:${port}`, ...more });
  services.push(service);
  return service;
}

beforeEach(() => {
  made = 0;
  answer = reply;
});
afterEach(async () => {
  for (const service of services.splice(0)) service.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => server.close(resolve));
});

const nothing = new Uint8Array(0);
const call = (service: GrpcService, timeoutMs = 60_000) =>
  service.call("pollWorkflowTaskQueue", nothing, { timeoutMs });
const lost = (says: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ServiceError && error.code === Code.UNAVAILABLE, String(error));
  assert.match(error.message, says);
  return true;
};
async function behindProxy(use: (proxy: ChaosProxy) => Promise<void>): Promise<void> {
  // 0.1: mishaps happen to all connections.
  const proxy = await ChaosProxy.start({ target: `127.0.0.1:${port}`, random: () => 0.1 });
  try {
    await use(proxy);
  } finally {
    await proxy.stop();
  }
}

test("a half-open connection is detected while polls wait, and the next call uses a new one", async () => {
  await serve();
  await behindProxy(async (proxy) => {
    const service = connection({
      address: proxy.address,
      keepAlive: { interval: "150ms", timeout: "1s" },
    });
    await call(service);
    let open = 0;
    answer = () => void open++;
    const polls = [call(service), call(service)];
    await until("two polls wait", () => open === 2);
    // Pings get their acks, so waiting ends nothing.
    await new Promise((resolve) => setTimeout(resolve, 600));
    proxy.happen("halfOpen");
    for (const poll of polls) {
      await assert.rejects(
        poll,
        lost(
          /was lost during pollWorkflowTaskQueue: .* did not acknowledge a keep-alive PING within 1000 ms/,
        ),
      );
    }
    answer = reply;
    await call(service);
    assert.equal(proxy.connections, 2);
  });
});

test("a call without a response pings the connection at once, whatever the interval", async () => {
  await serve();
  await behindProxy(async (proxy) => {
    const service = connection({ address: proxy.address, keepAlive: { timeout: "1s" } });
    await call(service);
    answer = () => {};
    const poll = call(service);
    proxy.happen("halfOpen");
    await assert.rejects(
      call(service, 50),
      (e: ServiceError) =>
        e.code === Code.DEADLINE_EXCEEDED && /timed out after 50 ms/.test(e.message),
    );
    await assert.rejects(poll, lost(/keep-alive PING/));
  });
});

test("a process that blocks longer than a ping timeout keeps its connection", async () => {
  // In another thread: a server of this one would be as busy.
  const source = `
    const { createServer } = require("node:http2");
    const { parentPort } = require("node:worker_threads");
    const server = createServer();
    server.on("session", (session) => session.on("error", () => {}));
    server.on("stream", (stream) => {
      parentPort.postMessage("asked");
      stream.on("error", () => {});
      parentPort.once("message", () => {
        stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": "0" });
        stream.end(new Uint8Array(5));
      });
    });
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));`;
  await serve();
  const thread = new Worker(source, { eval: true });
  const heard: unknown[] = [];
  thread.on("message", (message) => heard.push(message));
  try {
    await until("the server is there", () => heard.length === 1);
    const service = connection({
      address: `127.0.0.1:${heard[0]}`,
      keepAlive: { interval: "100ms", timeout: "500ms" },
    });
    const poll = call(service);
    await until("the poll waits", () => heard.length === 2);
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 110));
      const end = performance.now() + 800;
      while (performance.now() < end);
    }
    thread.postMessage("answer");
    assert.equal((await poll).length, 0);
  } finally {
    await thread.terminate();
  }
});

test("a connection that was idle for long is pinged before a call uses it", async () => {
  await serve();
  await behindProxy(async (proxy) => {
    const service = connection({
      address: proxy.address,
      keepAlive: { interval: "100ms", timeout: "500ms" },
    });
    await call(service);
    proxy.happen("halfOpen");
    const end = performance.now() + 700;
    // As a machine that sleeps, or a process that is stopped: no timer runs.
    while (performance.now() < end);
    assert.equal((await call(service)).length, 0);
    assert.equal(proxy.connections, 2);
  });
});

for (const mishap of ["cut", "reset", "loseAnswers", "cutMidway"] as Mishap[]) {
  test(`a broken connection (${mishap}) fails its calls with UNAVAILABLE at once, and is reopened`, async () => {
    await serve();
    await behindProxy(async (proxy) => {
      const service = connection({ address: proxy.address });
      await call(service);
      let waiting: ServerHttp2Stream | undefined;
      answer = (stream) => waiting = stream;
      const poll = call(service);
      await until("the poll waits", () => waiting !== undefined);
      proxy.happen(mishap);
      reply(waiting!);
      await assert.rejects(poll, lost(/was lost during pollWorkflowTaskQueue/));
      answer = reply;
      await call(service);
    });
  });
}

test("a server that sends GOAWAY finishes its calls; others use a new connection", async () => {
  await serve();
  const service = connection();
  const waiting: ServerHttp2Stream[] = [];
  let its: ServerHttp2Session | undefined;
  answer = (stream, _, session) => void ([its] = [session, waiting.push(stream)]);
  const poll = call(service);
  await until("the poll waits", () => waiting.length === 1);
  const other = call(service);
  await until("another call waits", () => waiting.length === 2);
  answer = reply;
  its!.goaway(0);
  // A client that has read this response has read the GOAWAY before it.
  reply(waiting[1]!);
  await other;
  await call(service);
  assert.equal(made, 2);
  reply(waiting[0]!);
  assert.equal((await poll).length, 0);
});

test("when a server stops, waiting calls complete or fail as unavailable, and nothing hangs", async () => {
  await serve();
  const service = connection();
  let waiting = 0;
  answer = () => void waiting++;
  const polls = Array.from({ length: 5 }, () => call(service));
  await until("all wait", () => waiting === 5);
  for (const session of sessions) {
    session.goaway(0);
    session.destroy();
  }
  for (const poll of polls) await assert.rejects(poll, lost(/was lost during/));
  answer = reply;
  await call(service);
});

test("a server with a low stream limit gets more connections, and all calls run at once", async () => {
  await serve({ maxConcurrentStreams: 4 });
  const service = connection();
  const waiting: ServerHttp2Stream[] = [];
  answer = (stream) => void waiting.push(stream);
  const polls = Array.from({ length: 18 }, () => call(service));
  await until("all calls are in flight", () => waiting.length === 18);
  assert.equal(made, 5);
  for (const stream of waiting) reply(stream);
  await Promise.all(polls);
  // What is free is taken again.
  waiting.length = 0;
  const more = Array.from({ length: 18 }, () => call(service));
  await until("all calls are in flight again", () => waiting.length === 18);
  assert.equal(made, 5);
  for (const stream of waiting) reply(stream);
  await Promise.all(more);
});

test("a call that the server did not process is sent again; one that it rejects is not", async () => {
  await serve();
  const service = connection();
  let times = 0;
  answer = (stream) => ++times < 3 ? stream.close(7) : reply(stream);
  assert.equal((await call(service)).length, 0);
  assert.equal(times, 3);
  times = 0;
  answer = (stream) => {
    times++;
    stream.close(7);
  };
  await assert.rejects(call(service), lost(/rejects calls at the moment/));
  assert.equal(times, 3);
});

test("invalid responses: too short, of another length, compressed, missing", async () => {
  await serve();
  const service = connection();
  const send =
    (bytes: number[], trailers: { [name: string]: string } = { "grpc-status": "0" }): Answer =>
    (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, {
        waitForTrailers: true,
      });
      stream.on("wantTrailers", () => stream.sendTrailers(trailers));
      stream.end(Uint8Array.from(bytes));
    };
  for (
    const [bytes, says] of [
      [[], /the response to pollWorkflowTaskQueue has no message/],
      [[0, 0, 0, 0, 9, 1], /has 1 bytes instead of 9/],
      [[1, 0, 0, 0, 1, 1], /is compressed/],
    ] as [number[], RegExp][]
  ) {
    answer = send(bytes);
    await assert.rejects(
      call(service),
      (e: ServiceError) => e.code === Code.INTERNAL && says.test(e.message),
    );
  }
  answer = send([], { "grpc-status": "99", "grpc-message": "50%25 of%20it, and 7%" });
  await assert.rejects(
    call(service),
    (e: ServiceError) => e.code === Code.UNKNOWN && e.message === "50% of it, and 7%",
  );
  answer = send([], {
    "grpc-status": "5",
    "grpc-message": "gone",
    "grpc-status-details-bin": "!!!",
  });
  await assert.rejects(
    call(service),
    (e: ServiceError) => e.code === Code.NOT_FOUND && e.message === "gone" && e.reason === "",
  );
  answer = send([], {});
  await assert.rejects(call(service), (e: ServiceError) => e.code !== Code.CANCELLED);
});

test("large requests and responses, many at once", async () => {
  await serve();
  const size = 3_000_000;
  answer = (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, {
      waitForTrailers: true,
    });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    const whole = Buffer.alloc(5 + size, 7);
    whole[0] = 0;
    whole.writeUInt32BE(size, 1);
    stream.end(whole);
  };
  const service = connection();
  const request = new Uint8Array(size).fill(9);
  const answers = await Promise.all(
    Array.from(
      { length: 8 },
      () => service.call("respondWorkflowTaskCompleted", request, { timeoutMs: 60_000 }),
    ),
  );
  for (const bytes of answers) {
    assert.equal(bytes.length, size);
    assert.ok(bytes.every((byte) => byte === 7));
    // A message has its own buffer: posting it to another thread does not post what it was read
    // into.
    assert.equal(bytes.buffer.byteLength, size);
  }
});

test("close rejects calls that wait for a connection, a response or a key", async () => {
  await serve();
  answer = () => {};
  const closed = (error: unknown) =>
    error instanceof ServiceError && error.code === Code.CANCELLED && /closed/.test(error.message);
  const waits = connection();
  const open = call(waits);
  setTimeout(() => waits.close(), 30);
  await assert.rejects(open, closed);
  const absent = connection({ address: "127.0.0.1:1" });
  await assert.rejects(call(absent), lost(/no server listens on this address/));
  // The next attempt waits a little.
  const waiting = [call(absent), call(absent), call(absent)];
  absent.close();
  for (const each of waiting) await assert.rejects(each, closed);
  const keyless = connection({ apiKey: () => new Promise<string>(() => {}), tls: false });
  const asking = call(keyless, 5000);
  setTimeout(() => keyless.close(), 30);
  await assert.rejects(asking, closed);
});

test("deadlines apply while a key is requested and while connecting", async () => {
  await serve();
  const keyless = connection({ apiKey: () => new Promise<string>(() => {}), tls: false });
  await assert.rejects(call(keyless, 50), (e: ServiceError) => e.code === Code.DEADLINE_EXCEEDED);
  const abort = new AbortController();
  const given = keyless.call("getSystemInfo", nothing, { signal: abort.signal });
  abort.abort();
  await assert.rejects(
    given,
    (e: ServiceError) => e.code === Code.CANCELLED && /canceled by its caller/.test(e.message),
  );
});

test("the namespace is sent as a header, unless the caller set that header", async () => {
  await serve();
  const seen: unknown[] = [];
  answer = (stream, headers) => {
    seen.push(headers["temporal-namespace"]);
    reply(stream);
  };
  const request = Uint8Array.from([0x0a, 4, ...new TextEncoder().encode("shop")]);
  await connection().call("describeNamespace", request);
  await connection({ metadata: { "temporal-namespace": "mine" } }).call(
    "describeNamespace",
    request,
  );
  await connection().call("getSystemInfo", nothing);
  assert.deepEqual(seen, ["shop", "mine", undefined]);
});

test("the seed determines all faults of a chaos network", () => {
  const [a, b] = [seeded(7), seeded(7)];
  assert.deepEqual(Array.from({ length: 5 }, a), Array.from({ length: 5 }, b));
  assert.notEqual(seeded(8)(), seeded(7)());
});
