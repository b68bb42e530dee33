// The HTTP/2 of connections, frame by frame: header fields against node:http2 and the examples of
// RFC 7541, flow control, what a server may do that few do, and what invalid may.
import assert from "node:assert/strict";
import { createServer as createHttp2, type IncomingHttpHeaders } from "node:http2";
import type { AddressInfo } from "node:net";
import { afterEach, test } from "node:test";
import { Code, type ServiceError } from "../../../ts/service/raw.ts";
import { HeaderDecoder } from "../../../ts/grpc/http2/hpack.ts";
import { unhuffman } from "../../../ts/grpc/http2/huffman.ts";
import {
  answer,
  closeAll,
  closing,
  complete,
  field,
  frame,
  GREETING,
  message,
  NOTHING,
  OK,
  peer,
  service,
  STATUS_0,
  TYPE,
  uint32,
} from "./support/frame_server.ts";

afterEach(closeAll);

const parseHex = (hex: string) => new Uint8Array(Buffer.from(hex, "hex"));
const CANCELLED = [...OK, ...field("grpc-status", "1")];
const LIMIT = { timeoutMs: 60_000 };
const varint = (value: number): number[] =>
  value < 128 ? [value] : [value & 127 | 128, ...varint(value >>> 7)];

// --- Header fields.

test("Huffman code: the examples of RFC 7541, and invalid input", () => {
  const decoded = (hex: string) => unhuffman(parseHex(hex), 0, hex.length / 2);
  assert.equal(decoded("f1e3c2e5f23a6ba0ab90f4ff"), "www.example.com");
  assert.equal(decoded("a8eb10649cbf"), "no-cache");
  assert.equal(
    decoded("d07abe941054d444a8200595040b8166e082a62d1bff"),
    "Mon, 21 Oct 2013 20:13:21 GMT",
  );
  assert.equal(
    decoded(
      "94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
    ),
    "foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1",
  );
  assert.equal(decoded(""), "");
  // The end-of-string symbol; a byte of padding; padding of zeros.
  for (const invalid of ["ffffffff", "f1e3c2e5f23a6ba0ab90f4ffff", "f1e3c2e5f23a6ba0ab90f4fe00"]) {
    assert.equal(decoded(invalid), undefined);
  }
});

test("invalid header blocks are rejected", () => {
  const read = (hex: string) => new HeaderDecoder().read(parseHex(hex));
  // 8.4.1 of RFC 7541 without the content of its dynamic table.
  assert.equal(read("488264025885aec3771a4b")[":status"], "302");
  assert.equal(read("2088")[":status"], "200");
  for (
    const bad of [
      "be",
      "80",
      "3f",
      "0f",
      "00",
      "0003",
      "000361",
      "400a637573746f6d",
      "ffffffffff0f",
      "21",
    ]
  ) {
    assert.throws(() => read(bad), { name: "HpackError" }, bad);
  }
  // Any bytes: refused or read, never anything else.
  let seed = 7;
  const random = () => (seed = Math.imul(seed, 48271) % 0x7fffffff) & 255;
  for (let i = 0; i < 5000; i++) {
    const block = Uint8Array.from({ length: 1 + i % 40 }, random);
    try {
      new HeaderDecoder().read(block);
    } catch (error) {
      assert.equal((error as Error).name, "HpackError");
    }
  }
});

test("every header and trailer arrives unchanged, however small the server's table", async () => {
  const visible = String.fromCharCode(...Array.from({ length: 94 }, (_, i) => 33 + i));
  for (const headerTableSize of [0, 60, 4096, 65_536]) {
    const seen: IncomingHttpHeaders[] = [];
    const server = createHttp2({ settings: { headerTableSize } }, (request, response) => {
      seen.push(request.headers);
      request.resume().on("end", () => {
        response.writeHead(200, {
          "content-type": "application/grpc",
          "x-all": visible,
          "x-long": visible.repeat(40),
        });
        response.addTrailers({
          "grpc-status": "9",
          "grpc-message": `no%25 ${seen.length} ${visible.replaceAll("%", "")}`,
        });
        response.end();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => new Promise((resolve) => server.close(() => resolve(undefined))));
    const metadata = {
      "x-visible": visible,
      "x-large": "l".repeat(3000),
      "x-larger": "m".repeat(20_000),
      "x-small": "",
    };
    const caller = service((server.address() as AddressInfo).port, { metadata });
    for (let i = 0; i < 6; i++) {
      const namespace = `space-${i % 3}`;
      const request = Uint8Array.from([0x0a, namespace.length, ...Buffer.from(namespace)]);
      await assert.rejects(
        caller.call("describeNamespace", request, { timeoutMs: 60_000 + i }),
        (error: ServiceError) => {
          assert.equal(error.code, Code.FAILED_PRECONDITION);
          assert.equal(error.message, `no% ${i + 1} ${visible.replaceAll("%", "")}`);
          return true;
        },
      );
      const headers = seen[i]!;
      assert.equal(headers["temporal-namespace"], namespace);
      assert.match(String(headers["grpc-timeout"]), /^\d+m$/);
      assert.equal(
        headers[":path"],
        "/temporal.api.workflowservice.v1.WorkflowService/DescribeNamespace",
      );
      for (const [name, value] of Object.entries(metadata)) {
        assert.equal(headers[name], value, name);
      }
    }
    caller.close();
  }
});

// --- What a server may do.

test("frames in pieces of one byte, padding, priorities, interim responses, unknown frames and split headers are read", async () => {
  const odd = (id: number) =>
    Buffer.concat([
      frame(TYPE.headers, 4, id, [0x08, 3, ...Buffer.from("103")]),
      frame(200, 255, id, [1, 2, 3]),
      // Padded, with a priority, and the rest in two more frames.
      frame(TYPE.headers, 0x28, id, [2, ...uint32(0), 16, ...OK.slice(0, 5), 0, 0]),
      frame(TYPE.continuation, 0, id, OK.slice(5, 9)),
      frame(TYPE.continuation, 4, id, OK.slice(9)),
      frame(TYPE.data, 8, id, [3, ...message([1, 2, 3, 4]).slice(0, 2), 0, 0, 0]),
      frame(TYPE.data, 0, id),
      frame(TYPE.data, 0, id, message([1, 2, 3, 4]).slice(2, 6)),
      frame(TYPE.settings, 0, 0, [0, 3, ...uint32(7)]),
      frame(TYPE.data, 0, id, message([1, 2, 3, 4]).slice(6)),
      frame(TYPE.headers, 5, id, STATUS_0),
    ]);
  for (const piece of [1, 7, 100_000]) {
    const { port } = await peer((got, socket) => {
      if (!complete(got)) return undefined;
      const whole = odd(got.id);
      const send = (at: number) => {
        if (at >= whole.length) return;
        socket.write(whole.subarray(at, at + piece), () => setImmediate(send, at + piece));
      };
      send(0);
      return undefined;
    });
    assert.deepEqual([...await service(port).call("getSystemInfo", NOTHING, LIMIT)], [1, 2, 3, 4]);
  }
});

test("a request waits for the server's flow-control windows and arrives complete", async () => {
  const parts: Uint8Array[] = [];
  let allowed = 100;
  const { port } = await peer((got) => {
    if (got.type === TYPE.headers) return frame(TYPE.window, 0, got.id, uint32(1));
    if (got.type !== TYPE.data) return undefined;
    parts.push(got.payload.slice());
    allowed -= got.payload.length;
    assert.ok(allowed >= -1, "it sent more than it was allowed");
    if (complete(got)) return answer(got.id);
    // Never more than what is asked for next; the connection's window ends first, once.
    allowed += 7000;
    return Buffer.concat([
      frame(TYPE.window, 0, got.id, uint32(7000)),
      frame(TYPE.window, 0, 0, uint32(7000)),
    ]);
  }, frame(TYPE.settings, 0, 0, [0, 4, ...uint32(100)]));
  const request = Uint8Array.from({ length: 200_000 }, (_, i) => i);
  await service(port).call("getSystemInfo", request, LIMIT);
  const body = Buffer.concat(parts);
  assert.equal(body.readUInt32BE(1), request.length);
  assert.deepEqual(new Uint8Array(body.subarray(5)), request);
});

test("canceling a call while its request waits leaves no state", async () => {
  const reset: number[] = [];
  const { port } = await peer((got) => {
    if (got.type === TYPE.reset) reset.push(got.id);
    return complete(got) ? answer(got.id) : undefined;
  }, frame(TYPE.settings, 0, 0, [0, 4, ...uint32(100)]));
  const caller = service(port);
  // From here on there is a connection, so both calls are sent at once, as far as the window lets
  // them.
  await caller.call("getSystemInfo", new Uint8Array(10), LIMIT);
  const stop = new AbortController();
  const stuck = caller.call("getSystemInfo", new Uint8Array(1000), {
    ...LIMIT,
    signal: stop.signal,
  });
  const late = caller.call("getSystemInfo", new Uint8Array(1000), { timeoutMs: 200 });
  await assert.rejects(late, (error: ServiceError) => error.code === Code.DEADLINE_EXCEEDED);
  stop.abort();
  await assert.rejects(stuck, (error: ServiceError) => error.code === Code.CANCELLED);
  // Small ones pass by.
  await caller.call("getSystemInfo", new Uint8Array(10), LIMIT);
  assert.deepEqual(reset.sort(), [3, 5]);
});

// grpc-go resets the stream when a call's time is over, and on one machine it is often sooner than
// a timer here, by less than a millisecond.
test("RST_STREAM after the deadline is DEADLINE_EXCEEDED; before it, the server is unavailable", async () => {
  const ends = [
    (id: number) => frame(TYPE.reset, 0, id, uint32(8)),
    (id: number) => frame(TYPE.headers, 5, id, CANCELLED),
  ];
  let waitMs = 0;
  let end = ends[0]!;
  const { port } = await peer((got) => {
    if (!complete(got)) return undefined;
    // In the caller's own process: its timer cannot run meanwhile.
    const until = performance.now() + waitMs;
    while (performance.now() < until);
    return end(got.id);
  });
  const caller = service(port);
  const code = async (timeoutMs: number) => {
    const error = await caller.call("getSystemInfo", NOTHING, { timeoutMs }).then(
      () => undefined,
      (error: ServiceError) => error,
    );
    return error?.code;
  };
  for (end of ends) {
    waitMs = 0;
    assert.equal(await code(5000), Code.UNAVAILABLE);
    for (let early = 0.05; early < 1; early += 0.1) {
      waitMs = 20 - early;
      assert.equal(
        await code(20),
        Code.DEADLINE_EXCEEDED,
        `${early} ms before the time that the server counted`,
      );
    }
  }
});

test("a server's pings get acks, and responses larger than the windows are read", async () => {
  let ponged: Uint8Array | undefined;
  let opened = 0;
  const size = 9_000_000;
  // Long in coming back, so that a chunk that was overwritten shows.
  const content = (_: unknown, i: number) => Math.imul(i, 2_654_435) >>> 16 & 255;
  const { port } = await peer((got) => {
    if (got.type === TYPE.ping && (got.flags & 1) !== 0) ponged = got.payload.slice();
    if (got.type === TYPE.window) opened++;
    if (!complete(got)) return undefined;
    const body = Buffer.concat([
      Uint8Array.from([0, ...uint32(size)]),
      Uint8Array.from({ length: size }, content),
    ]);
    const frames = [
      frame(TYPE.ping, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]),
      frame(TYPE.headers, 4, got.id, OK),
    ];
    for (let at = 0; at < body.length; at += 16_384) {
      frames.push(frame(TYPE.data, 0, got.id, body.subarray(at, at + 16_384)));
    }
    return Buffer.concat([...frames, frame(TYPE.headers, 5, got.id, STATUS_0)]);
  });
  const got = await service(port).call("getSystemInfo", NOTHING, LIMIT);
  assert.equal(got.length, size);
  assert.ok(got.every((byte, i) => byte === content(byte, i)));
  assert.deepEqual([...ponged ?? []], [1, 2, 3, 4, 5, 6, 7, 8]);
  // The connection's own at the start, then for each half of a window: of the connection and of the
  // stream.
  assert.ok(opened >= 5, `windows were opened ${opened} times`);
});

test("after an early response the rest of the request is not sent", async () => {
  const seen: string[] = [];
  const { port } = await peer((got) => {
    if (got.type === TYPE.reset) seen.push(`reset ${got.id}`);
    if (got.type === TYPE.data) seen.push(`data ${got.id} ${got.payload.length}`);
    if (got.type !== TYPE.headers) return undefined;
    return got.id === 1
      ? frame(TYPE.headers, 5, 1, [...OK, ...field("grpc-status", "8")])
      : answer(got.id);
  }, frame(TYPE.settings, 0, 0, [0, 4, ...uint32(100)]));
  const caller = service(port);
  await assert.rejects(
    caller.call("getSystemInfo", new Uint8Array(1000), LIMIT),
    (error: ServiceError) => error.code === Code.RESOURCE_EXHAUSTED,
  );
  await caller.call("getSystemInfo", new Uint8Array(10), LIMIT);
  assert.deepEqual(seen, ["data 1 100", "reset 1", "data 3 15"]);
});

test("long trailers are accepted", async () => {
  const text = "x".repeat(200_000);
  const length = [127, ...varint(text.length - 127)];
  const trailers = Uint8Array.from([
    ...field("grpc-status", "3"),
    0x10,
    12,
    ...Buffer.from("grpc-message"),
    ...length,
    ...Buffer.from(text),
  ]);
  const { port } = await peer((got) => {
    if (!complete(got)) return undefined;
    const parts = [frame(TYPE.headers, 4, got.id, OK)];
    for (let at = 0; at < trailers.length; at += 16_384) {
      const part = trailers.subarray(at, at + 16_384);
      const flags = (at === 0 ? 1 : 0) | (at + part.length === trailers.length ? 4 : 0);
      parts.push(frame(at === 0 ? TYPE.headers : TYPE.continuation, flags, got.id, part));
    }
    return Buffer.concat(parts);
  });
  await assert.rejects(
    service(port).call("getSystemInfo", NOTHING, LIMIT),
    (error: ServiceError) => error.code === Code.INVALID_ARGUMENT && error.message.includes(text),
  );
});

test("a response with any bytes changed is a response or a ServiceError", async () => {
  let seed = 20_261;
  const random = (below: number) => (seed = Math.imul(seed, 48271) & 0x7fffffff) % below;
  const { port } = await peer((got) => {
    if (!complete(got)) return undefined;
    const whole = answer(got.id, [1, 2, 3]);
    for (let i = random(3); i >= 0; i--) whole[random(whole.length)] = random(256);
    return whole;
  });
  const outcomes = new Set<string>();
  for (let i = 0; i < 500; i++) {
    const caller = service(port);
    try {
      outcomes.add(
        `${(await caller.call("getSystemInfo", NOTHING, { timeoutMs: 30 })).length} bytes`,
      );
    } catch (error) {
      assert.equal((error as Error).name, "ServiceError", (error as Error).stack);
      outcomes.add(`code ${(error as ServiceError).code}`);
    } finally {
      caller.close();
    }
  }
  // Not all of one kind, or the damage would miss what is read.
  assert.ok(outcomes.size >= 4, [...outcomes].join(", "));
});

// --- What invalid may.

const RUBBISH: { readonly [what: string]: (id: number) => Uint8Array } = {
  "a frame that is too large": (id) =>
    Buffer.concat([
      frame(TYPE.headers, 4, id, OK),
      frame(TYPE.data, 0, id, new Uint8Array(16_385)),
    ]),
  "data for a stream that was never opened": () => frame(TYPE.data, 0, 77, [0]),
  "a response on a stream that the server opened": () => frame(TYPE.headers, 4, 2, OK),
  "a push": (id) => frame(TYPE.push, 4, id, [...uint32(2), ...OK]),
  "header fields that are interrupted": (id) =>
    Buffer.concat([frame(TYPE.headers, 0, id, OK), frame(TYPE.ping, 0, 0, new Uint8Array(8))]),
  "header fields without a beginning": (id) => frame(TYPE.continuation, 4, id, OK),
  "header fields without an end": (id) =>
    Buffer.concat([
      frame(TYPE.headers, 0, id, OK),
      ...Array.from({ length: 20 }, () => frame(TYPE.continuation, 0, id, new Uint8Array(16_384))),
    ]),
  "header fields that do not decode": (id) => frame(TYPE.headers, 4, id, [0xff, 0xff, 0xff]),
  "padding and nothing else": (id) => frame(TYPE.data, 8, id, [9, 0, 0]),
  "a window that overflows": () => frame(TYPE.window, 0, 0, uint32(0x7fff_ffff)),
  "a window of nothing": (id) => frame(TYPE.window, 0, id, uint32(0)),
  "settings that make no sense": () => frame(TYPE.settings, 0, 0, [0, 4, 255, 255, 255, 255]),
  "settings of an odd size": () => frame(TYPE.settings, 0, 0, [0, 4, 1]),
  "a ping of an odd size": () => frame(TYPE.ping, 0, 0, [1]),
  "a reset of an odd size": (id) => frame(TYPE.reset, 0, id, [1]),
  "a goodbye of an odd size": () => frame(TYPE.goAway, 0, 0, [1]),
};

test("a protocol error of the server closes the connection and fails its calls", async () => {
  for (const [what, make] of Object.entries(RUBBISH)) {
    let connections = 0;
    const { port, server } = await peer((got) =>
      complete(got) ? connections === 1 ? make(got.id) : answer(got.id) : undefined
    );
    server.on("connection", () => connections++);
    const caller = service(port);
    await assert.rejects(caller.call("getSystemInfo", NOTHING, LIMIT), (error: ServiceError) => {
      assert.equal(error.code, Code.UNAVAILABLE, `${what}: ${error.message}`);
      assert.match(error.message, /was lost during getSystemInfo/);
      return true;
    }, what);
    await caller.call("getSystemInfo", NOTHING, LIMIT);
    assert.equal(connections, 2, what);
  }
});

test("a server without HTTP/2 is reported when the connection starts", async () => {
  const { port } = await peer(() => undefined, Buffer.from("HTTP/1.1 400 Bad Request\r\n\r\n"));
  await assert.rejects(
    service(port).call("getSystemInfo", NOTHING, LIMIT),
    /does not support HTTP\/2/,
  );
  const other = await peer(() => undefined, frame(TYPE.settings, 1, 0));
  await assert.rejects(
    service(other.port).call("getSystemInfo", NOTHING, LIMIT),
    /does not support HTTP\/2/,
  );
});

for (
  const [asks, what] of [[frame(TYPE.ping, 0, 0, new Uint8Array(8)), "pings"], [
    GREETING,
    "settings",
  ]] as const
) {
  test(`a server that sends ${what} is disconnected only if it does not read the replies`, async () => {
    const many = Buffer.concat(Array.from({ length: 4000 }, () => asks));
    const { port } = await peer((got, socket) => {
      if (!complete(got)) return undefined;
      if (got.id < 9) return Buffer.concat([many, answer(got.id)]);
      socket.pause();
      const go = () => {
        while (!socket.destroyed && socket.write(many));
      };
      socket.on("drain", go);
      go();
      return undefined;
    });
    const caller = service(port);
    for (let i = 0; i < 4; i++) await caller.call("getSystemInfo", NOTHING, { timeoutMs: 60_000 });
    await assert.rejects(
      caller.call("getSystemInfo", NOTHING, { timeoutMs: 60_000 }),
      (error: ServiceError) => {
        assert.equal(error.code, Code.UNAVAILABLE, error.message);
        assert.match(
          error.message,
          /sends PING and SETTINGS frames without reading the acknowledgments of 10000 of them/,
        );
        return true;
      },
    );
  });
}
