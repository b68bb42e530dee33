// Servers and proxies that take connections and make them hard to use: they hang up at once, take
// few calls at a time, or none for a while.
// takes: 3 s
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { afterEach, test } from "node:test";
import { delay } from "@std/async/delay";
import { Code, type ServiceError } from "../../../ts/service/raw.ts";
import {
  answer,
  closeAll,
  complete,
  field,
  frame,
  GREETING,
  NOTHING,
  peer,
  service,
  STATUS_0,
  TYPE,
  uint32,
} from "./support/frame_server.ts";

afterEach(closeAll);

const LIMIT = { timeoutMs: 60_000 };
const goAway = (last: number, code = 0) =>
  frame(TYPE.goAway, 0, 0, [...uint32(last), ...uint32(code)]);
const maxStreams = (count: number) => frame(TYPE.settings, 0, 0, [0, 3, ...uint32(count)]);

test("a server that sends GOAWAY at once is retried with pauses, and the error has its debug data", async () => {
  for (const greeting of [Buffer.concat([GREETING, goAway(0)]), "end"]) {
    let connections = 0;
    const { port, server } = await peer(
      ({ type }, socket) => void (greeting === "end" && type === TYPE.settings && socket.end()),
      greeting === "end" ? GREETING : greeting as Uint8Array,
    );
    server.on("connection", () => connections++);
    const caller = service(port);
    const until = performance.now() + 600;
    while (performance.now() < until) {
      await assert.rejects(
        caller.call("getSystemInfo", NOTHING, { timeoutMs: 60_000 }),
        (error: ServiceError) => {
          // (The time may also be over while another attempt is under way.)
          if (error.code === Code.DEADLINE_EXCEEDED) return true;
          assert.equal(error.code, Code.UNAVAILABLE, error.message);
          assert.match(
            error.message,
            /the server (?:at 127\.0\.0\.1:\d+ )?(?:closed|ended) the connection/,
          );
          return true;
        },
      );
    }
    // 50 ms, 80, 128, ... less jitter.
    assert.ok(connections <= 25, `${connections} connections`);
  }
});

test("a connection that closes during a ping rejects its waiting calls", async () => {
  const real = Date.now;
  try {
    let connections = 0;
    const { port, server } = await peer((got, socket) => {
      // After the machine's sleep the first connection is gone: calls on it get the end of the
      // connection.
      if (got.type === TYPE.ping) socket.destroy();
      return complete(got) ? answer(got.id) : undefined;
    });
    server.on("connection", () => connections++);
    const caller = service(port);
    await caller.call("getSystemInfo", NOTHING, LIMIT);
    Date.now = () => real() + 3_600_000;
    const began = performance.now();
    await caller.call("getSystemInfo", NOTHING, LIMIT);
    // (15 s)
    assert.ok(performance.now() - began < 12_000, "it waited for the ping's time");
    assert.equal(connections, 2);
  } finally {
    Date.now = real;
  }
});

test("a server with one stream on each of 64 connections gets further calls later, never more than its limit", async () => {
  const open = new Map<Socket, number>();
  let most = 0;
  const { port, server } = await peer((got, socket) => {
    if (!complete(got)) return undefined;
    const now = (open.get(socket) ?? 0) + 1;
    open.set(socket, now);
    most = Math.max(most, now);
    setTimeout(() => {
      open.set(socket, open.get(socket)! - 1);
      socket.write(answer(got.id));
    }, 30);
    return undefined;
  }, maxStreams(1));
  let connections = 0;
  server.on("connection", () => connections++);
  const caller = service(port);
  await Promise.all(
    Array.from({ length: 300 }, () => caller.call("getSystemInfo", NOTHING, { timeoutMs: 60_000 })),
  );
  assert.equal(most, 1);
  assert.ok(connections <= 64, `${connections} connections`);
});

test("queued calls are sent in order, before later calls", async () => {
  const CONNECTIONS = 64, WAITING = 20;
  const order: number[] = [];
  const held: (() => void)[] = [];
  const { port } = await peer((got, socket) => {
    if (!complete(got)) return undefined;
    order.push(got.payload[5]!);
    const reply = () => void socket.write(answer(got.id));
    if (order.length <= CONNECTIONS) held.push(reply);
    else reply();
    return undefined;
  }, maxStreams(1));
  const caller = service(port);
  const call = (number: number) =>
    caller.call("getSystemInfo", Uint8Array.of(number), { timeoutMs: 60_000 });
  const first = Array.from({ length: CONNECTIONS }, () => call(0));
  while (held.length < CONNECTIONS) await delay(10);
  const waiting = Array.from({ length: WAITING }, (_, i) => call(1 + i));
  await delay(10);
  // A caller that gets a response calls again at once, and would find the room that it has just
  // made. The other connections stay busy.
  const again = first[0]!.then(() => call(100));
  held[0]!();
  await Promise.all([again, ...waiting]);
  assert.deepEqual(order.slice(CONNECTIONS), [
    ...Array.from({ length: WAITING }, (_, i) => 1 + i),
    100,
  ]);
  for (const reply of held.slice(1)) reply();
  await Promise.all(first);
});

test("calls wait for a server that temporarily accepts no streams, on few connections", async () => {
  const sockets: Socket[] = [];
  const { port, server } = await peer(
    (got) => complete(got) ? answer(got.id) : undefined,
    maxStreams(0),
  );
  server.on("connection", (socket: Socket) => sockets.push(socket));
  const caller = service(port);
  const calls = Promise.all(
    Array.from({ length: 20 }, () => caller.call("getSystemInfo", NOTHING, { timeoutMs: 60_000 })),
  );
  while (sockets.length < 2) await delay(10);
  await delay(100);
  await assert.rejects(
    caller.call("getSystemInfo", NOTHING, { timeoutMs: 300 }),
    (error: ServiceError) => {
      assert.equal(error.code, Code.DEADLINE_EXCEEDED);
      assert.match(error.message, /accepts no more calls/);
      return true;
    },
  );
  const stop = new AbortController();
  const given = caller.call("getSystemInfo", NOTHING, { ...LIMIT, signal: stop.signal });
  await delay(50);
  stop.abort();
  await assert.rejects(given, (error: ServiceError) => error.code === Code.CANCELLED);
  assert.ok(sockets.length <= 2, `${sockets.length} connections`);
  sockets[0]!.write(maxStreams(3));
  assert.equal((await calls).length, 20);
  // One with room for three, two with none.
  assert.ok(sockets.length <= 3, `${sockets.length} connections`);
});

test("queued calls fail when their connection closes", async () => {
  const { port } = await peer(() => undefined, maxStreams(0));
  const caller = service(port);
  const waiting = caller.call("getSystemInfo", NOTHING, LIMIT);
  await delay(100);
  caller.close();
  await assert.rejects(waiting, (error: ServiceError) => error.code === Code.CANCELLED);
});

test("two GOAWAY frames: calls above the last id of the second are sent again, those below are finished", async () => {
  let connections = 0;
  const seen: string[] = [];
  const { port, server } = await peer((got, socket) => {
    if (!complete(got)) return undefined;
    const connection = connections;
    seen.push(`${connection}:${got.id}`);
    if (connection > 1) return answer(got.id);
    if (got.id < 5) return undefined;
    socket.write(goAway(0x7fff_ffff));
    setTimeout(() => {
      socket.write(goAway(1));
      setTimeout(() => socket.write(answer(1)), 20);
    }, 20);
    return undefined;
  });
  server.on("connection", () => connections++);
  const caller = service(port);
  await Promise.all([1, 2, 3].map(() => caller.call("getSystemInfo", NOTHING, LIMIT)));
  assert.deepEqual(seen, ["1:1", "1:3", "1:5", "2:1", "2:3"]);
});

test("one abort cancels hundreds of calls that share a signal, before and after connecting", async () => {
  const { port } = await peer(() => undefined, maxStreams(100));
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) =>
    void (/listeners/.test(message) && warnings.push(message));
  process.on("warning", onWarning);
  const caller = service(port);
  const stop = new AbortController();
  const calls = Array.from(
    { length: 300 },
    () => caller.call("getSystemInfo", NOTHING, { ...LIMIT, signal: stop.signal }),
  );
  await delay(100);
  stop.abort();
  const ended = await Promise.allSettled(calls);
  process.off("warning", onWarning);
  assert.ok(ended.every((one) => one.status === "rejected" && one.reason.code === Code.CANCELLED));
  // Node warns of many listeners on one signal.
  assert.deepEqual(warnings, []);
  await assert.rejects(
    caller.call("getSystemInfo", NOTHING, { ...LIMIT, signal: stop.signal }),
    /canceled by its caller/,
  );
});

test("HTML responses of proxies become errors by their status, and the connection stays open", async () => {
  const codes: { [status: string]: Code } = {
    "200": Code.UNKNOWN,
    "302": Code.UNKNOWN,
    "400": Code.INTERNAL,
    "401": Code.UNAUTHENTICATED,
    "403": Code.PERMISSION_DENIED,
    "404": Code.UNIMPLEMENTED,
    // What comes and goes is worth another attempt: a report that is not sent again is a result
    // that is lost.
    ...Object.fromEntries(
      ["408", "429", "500", "502", "503", "504", "520", "524", "529"].map((
        it,
      ) => [it, Code.UNAVAILABLE]),
    ),
    "501": Code.UNIMPLEMENTED,
  };
  const statuses = Object.keys(codes);
  let connections = 0;
  const page = Buffer.from("<html>".repeat(2000));
  const { port, server } = await peer((got) => {
    if (!complete(got)) return undefined;
    const status = statuses[(got.id - 1) / 2]!;
    const head = [0x08, 3, ...Buffer.from(status), ...field("content-type", "text/html")];
    return Buffer.concat([
      frame(TYPE.headers, 4, got.id, head),
      frame(TYPE.data, 0, got.id, page),
      frame(TYPE.data, 1, got.id),
    ]);
  });
  server.on("connection", () => connections++);
  const caller = service(port);
  for (const [status, code] of Object.entries(codes)) {
    await assert.rejects(caller.call("getSystemInfo", NOTHING, LIMIT), (error: ServiceError) => {
      assert.equal(error.code, code, status);
      assert.match(error.message, new RegExp(`HTTP status ${status} \\(text/html\\)`));
      return true;
    });
  }
  assert.equal(connections, 1);
});

test("a non-numeric status does not count as success", async () => {
  const statuses = ["", " ", "-0", "0x0", "ok", "0.0"];
  const { port } = await peer((got) => {
    if (!complete(got)) return undefined;
    const whole = answer(got.id, [1]);
    const trailers = frame(
      TYPE.headers,
      5,
      got.id,
      field("grpc-status", statuses[(got.id - 1) / 2]!),
    );
    return Buffer.concat([
      whole.subarray(0, -frame(TYPE.headers, 5, got.id, STATUS_0).length),
      trailers,
    ]);
  });
  const caller = service(port);
  for (const status of statuses) {
    const call = caller.call("getSystemInfo", NOTHING, LIMIT);
    await assert.rejects(
      call,
      (error: ServiceError) => error.code === Code.UNKNOWN,
      JSON.stringify(status),
    );
  }
});

test("deadlines longer than the maximum of a timer are long, not 0", async () => {
  let pings = 0;
  const { port } = await peer((got) => {
    if (got.type === TYPE.ping) pings++;
    return complete(got) ? answer(got.id) : undefined;
  });
  const armed: number[] = [];
  const onWarning = (warning: Error) => {
    if (warning.name === "TimeoutOverflowWarning") armed.push(1);
  };
  process.on("warning", onWarning);
  const caller = service(port, {
    keepAlive: { interval: "100 days", timeout: "100 days" },
    attemptTimeout: "100 days",
  });
  await caller.call("getSystemInfo", NOTHING, LIMIT);
  await delay(100);
  process.off("warning", onWarning);
  assert.equal(pings, 0);
  assert.deepEqual(armed, []);
  assert.throws(() => service(port, { keepAlive: { interval: 0 } }), TypeError);
});

test("a response that arrived in time counts, also if the process was blocked until after the deadline", async () => {
  const { port } = await peer((got, socket) => {
    if (!complete(got)) return undefined;
    if (got.id % 4 === 1) return answer(got.id);
    // Behind this the runtime looks at its timers first.
    const compute = () => {
      for (const end = performance.now() + 400; performance.now() < end;);
    };
    socket.write(answer(got.id), () => setImmediate(compute));
    return undefined;
  });
  const caller = service(port);
  for (let i = 0; i < 3; i++) {
    await caller.call("getSystemInfo", NOTHING, { timeoutMs: 60_000 });
    await caller.call("getSystemInfo", NOTHING, { timeoutMs: 200 });
  }
});
