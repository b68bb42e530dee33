// Every server of this package against requests that are too large: as they arrive and decoded, in
// every protocol, format and encoding. Each is refused by its name, the decoder stops where the
// limit is, and the server serves on.
// takes: 4 s
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";
import zlib from "node:zlib";
import { serveStore, type StoreServer } from "../../../ts/app/serve_store.ts";
import { type DevServer, startDevServer } from "../../../ts/dev/server.ts";
import "../../../ts/engine/mod.ts";
import { type Gateway, startGateway } from "../../../ts/gateway/server.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import type { RawService } from "../../../ts/service/raw.ts";
import { checkJson } from "../../../ts/server/request_body.ts";
import { type Probes, serveProbes } from "../../../ts/grpc/mod.ts";
import { bodyOf, isEnveloped, type Place, send, TYPES } from "../grpc/support/bodies.ts";
import { fitsSocket } from "../../../ts/app/socket_path.ts";

const MB = 1024 * 1024;
/** The default limits of servers, and the limits that most of these tests set. */
const DEFAULT_MOST = 64 * MB;
const MOST = 4 * MB;
const GATEWAY_MOST = MB;
const SIGNAL = "/temporal.api.workflowservice.v1.WorkflowService/SignalWorkflowExecution";
const HEALTH = "/grpc.health.v1.Health/Watch";

const seen: Uint8Array[] = [];
const service: RawService = {
  call: (_, request) => (seen.push(request), Promise.resolve(new Uint8Array(0))),
};

interface Listens extends Place {
  readonly name: string;
  readonly most: number;
}
let listens: Listens[] = [];
let dev: DevServer, gateway: Gateway, probes: Probes, folder = "";
const stores: StoreServer[] = [];
const awake = setInterval(() => {}, 1000);

before(async () => {
  folder = mkdtempSync(join(tmpdir(), "temporalex-bodies-"));
  dev = await startDevServer({
    port: 0,
    httpPort: 0,
    namespaces: ["default"],
    storeOf: () => undefined,
    logger: silentLogger,
    maxRequestBytes: MOST,
  });
  gateway = await startGateway({ service, port: 0, limits: { requestBytes: GATEWAY_MOST } });
  const [short, long] = [join(folder, "s"), join(folder, "x".repeat(120), "s")];
  mkdirSync(join(folder, "x".repeat(120)));
  for (const path of [short, long]) {
    stores.push(await serveStore(service, path, { maxRequestBytes: MOST }));
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const note = JSON.parse(readFileSync(`${long}-port`, "utf8")) as { port: number; secret: string };
  listens = [
    { name: "dev, gRPC", http: 2, at: { port: dev.port }, most: MOST },
    { name: "dev, HTTP", http: 1, at: { port: dev.httpPort! }, most: MOST },
    {
      name: "gateway",
      http: 1,
      at: { port: gateway.port },
      headers: bearer(new URL(gateway.url).hash.slice(1)),
      most: GATEWAY_MOST,
    },
    ...(fitsSocket(short)
      ? [{
        name: "store, socket",
        http: 2 as const,
        at: { path: `${short}-socket` },
        headers: { ":authority": "localhost" },
        most: MOST,
      }]
      : []),
    {
      name: "store, port",
      http: 2,
      at: { port: note.port },
      headers: { ":authority": `127.0.0.1:${note.port}`, ...bearer(note.secret) },
      most: MOST,
    },
  ];
  probes = await serveProbes({ listen: "0", worker: { state: "running", ready: true } });
});
after(async () => {
  clearInterval(awake);
  await Promise.all([
    dev.close(),
    gateway.close(0),
    probes.close(),
    ...stores.map((store) => store.close(0)),
  ]);
  rmSync(folder, { recursive: true, force: true });
});

/** Bytes that decoders of this process have put out. */
let decoded = 0;
const push = Readable.prototype.push;
Readable.prototype.push = function (
  this: Readable,
  chunk: Uint8Array | null,
  encoding?: BufferEncoding,
) {
  if (chunk !== null && (this instanceof zlib.Gunzip || this instanceof zlib.BrotliDecompress)) {
    decoded += chunk.length;
  }
  return push.call(this, chunk, encoding);
};

const large = new Uint8Array(DEFAULT_MOST + 16 * MB).fill(0x20);
const bombs: { readonly [encoding: string]: Uint8Array } = {
  gzip: zlib.gzipSync(large, { level: 1 }),
  br: zlib.brotliCompressSync(large, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 1 } }),
};
/** Encodings that are rejected by name: the content of the body is not read. */
const UNKNOWN = ["deflate", "zstd", "x-gzip"];

/**
 * Methods of WorkflowService take no streams; the one that returns a stream is the health
 * service's.
 */
const pathFor = (place: Listens, type: string) =>
  type.includes("connect+") && place.name.startsWith("dev") ? HEALTH : SIGNAL;
/** What a request of this type comes to when its size is the fault. */
const refusalOf = (place: Listens, type: string, code: string) =>
  type.includes("connect+") && (pathFor(place, type) === SIGNAL || type.includes("json"))
    ? /^http (?:415|404)$|^unimplemented$/
    : new RegExp(`^${code}$`);

test("an oversized body is rejected by its announced length, in every protocol", async () => {
  for (const place of listens) {
    for (const type of TYPES) {
      seen.length = 0;
      const message = new Uint8Array(1000);
      // An envelope announces its message; without one it is the header that does.
      const given = isEnveloped(type)
        ? await send(
          place,
          pathFor(place, type),
          type,
          bodyOf(type, message, undefined, place.most + 1),
          { unfinished: true },
        )
        : await send(place, SIGNAL, type, message, {
          unfinished: true,
          headers: { "content-length": String(place.most + 1) },
        });
      const what = `${place.name}, ${type}: ${given.status} ${given.code} ${
        given.text.slice(0, 200)
      }`;
      if (place.name === "gateway" && !isEnveloped(type)) assert.equal(given.status, 413, what);
      else assert.match(given.code ?? "", refusalOf(place, type, "resource_exhausted"), what);
      assert.deepEqual(seen, [], what);
    }
  }
});

test("a body that is oversized after decompression is rejected, and decompressed only up to the limit", async () => {
  for (const place of listens) {
    for (const type of TYPES) {
      for (const [encoding, bomb] of Object.entries(bombs)) {
        seen.length = 0;
        decoded = 0;
        const given = await send(place, pathFor(place, type), type, bodyOf(type, bomb, encoding), {
          encoding,
        });
        const what = `${place.name}, ${type}, ${encoding}: ${given.status} ${given.code} ${
          given.text.slice(0, 200)
        }`;
        assert.match(given.code ?? "", refusalOf(place, type, "resource_exhausted"), what);
        assert.ok(decoded <= place.most + 2 * MB, `${what}: ${decoded} bytes were decoded`);
        assert.deepEqual(seen, [], what);
      }
    }
  }
});

test("oversized bodies are rejected with default limits", async () => {
  const server = await startDevServer({
    port: 0,
    httpPort: 0,
    namespaces: ["n"],
    storeOf: () => undefined,
    logger: silentLogger,
  });
  try {
    const place: Place = { http: 1, at: { port: server.httpPort! } };
    for (const type of ["application/json", "application/proto"]) {
      decoded = 0;
      const given = await Promise.all(
        Array.from(
          { length: 3 },
          () => send(place, SIGNAL, type, bombs["br"]!, { encoding: "br" }),
        ),
      );
      assert.deepEqual(given.map(({ code }) => code), Array(3).fill("resource_exhausted"));
      assert.ok(decoded <= 3 * DEFAULT_MOST + 6 * MB, `${type}: ${decoded} bytes were decoded`);
    }
  } finally {
    await server.close();
  }
});

test("an unsupported encoding is rejected by name, and the body is not read", async () => {
  for (const place of listens) {
    for (const type of TYPES) {
      for (const encoding of UNKNOWN) {
        decoded = 0;
        const given = await send(
          place,
          pathFor(place, type),
          type,
          bodyOf(type, bombs["gzip"]!, encoding),
          { encoding },
        );
        const what = `${place.name}, ${type}, ${encoding}: ${given.status} ${given.code} ${
          given.text.slice(0, 200)
        }`;
        assert.match(given.code ?? "", refusalOf(place, type, "unimplemented"), what);
        assert.equal(decoded, 0, what);
      }
    }
  }
});

test("broken encodings and truncated messages are client errors", async () => {
  for (const place of listens) {
    for (const type of TYPES.filter((each) => !each.includes("connect+"))) {
      for (const encoding of Object.keys(bombs)) {
        const broken = await send(
          place,
          SIGNAL,
          type,
          bodyOf(type, new Uint8Array(100).fill(7), encoding),
          { encoding },
        );
        assert.equal(
          broken.code,
          "invalid_argument",
          `${place.name}, ${type}, ${encoding}: ${broken.text}`,
        );
        const half = bombs[encoding]!.subarray(0, 500);
        const cut = await send(place, SIGNAL, type, bodyOf(type, half, encoding), { encoding });
        // Deno's decoder of Brotli does not say that something is missing.
        if (encoding === "br" && "Deno" in globalThis) continue;
        assert.match(
          cut.code ?? "",
          /^(?:invalid_argument|resource_exhausted)$/,
          `${place.name}, ${type}, ${encoding}: ${cut.text}`,
        );
      }
    }
  }
});

test("deeply nested JSON and JSON with too many values are rejected before parsing", async () => {
  const deep = new TextEncoder().encode(
    `{"namespace":${"[".repeat(100_000)}${"]".repeat(100_000)}}`,
  );
  const objects = new TextEncoder().encode('{"input":'.repeat(5000) + "1" + "}".repeat(5000));
  const values = new TextEncoder().encode(`{"namespace":[${"0,".repeat(600_000)}0]}`);
  for (const place of listens.filter(({ most }) => most === MOST)) {
    for (
      const type of TYPES.filter((each) => each.includes("json") && !each.includes("connect+"))
    ) {
      for (
        const [body, code] of [[deep, "invalid_argument"], [objects, "invalid_argument"], [
          values,
          "resource_exhausted",
        ]] as const
      ) {
        const given = await send(place, SIGNAL, type, bodyOf(type, body, undefined));
        assert.equal(given.code, code, `${place.name}, ${type}: ${given.text}`);
        assert.doesNotMatch(given.text, /call stack/);
      }
    }
  }
});

test("depth and values inside of strings are not counted", () => {
  const ok = (value: unknown) => checkJson(new TextEncoder().encode(JSON.stringify(value)));
  ok({
    a: "[".repeat(1000),
    '"[[': ['\\"[', "\\", '\\\\"', ",".repeat(1_000_000)],
    b: { c: [[], {}] },
  });
  ok("\\");
  assert.throws(
    () => checkJson(new TextEncoder().encode("[".repeat(101))),
    /nested more than 100 levels deep/,
  );
  checkJson(new TextEncoder().encode("[".repeat(100) + "]".repeat(100)));
  checkJson(new TextEncoder().encode('["unfinished'));
});

test("large bodies within the limits are accepted in every encoding, and many at once use bounded memory", async () => {
  const place = listens.find(({ name }) => name.startsWith("store"))!;
  const message = new Uint8Array(3 + 200_000);
  message.set([0x0a, 0xc0, 0x9a, 0x0c].slice(0, 4));
  const namespace = new TextEncoder().encode(JSON.stringify({ namespace: "n".repeat(200_000) }));
  for (const type of TYPES.filter((each) => !each.includes("connect+"))) {
    const body = type.includes("json")
      ? namespace
      : Uint8Array.from([0x0a, 0xc0, 0x9a, 0x0c, ...new Uint8Array(200_000).fill(110)]);
    for (const encoding of [undefined, "identity", "gzip", "br"]) {
      seen.length = 0;
      const packed = encoding === "gzip"
        ? zlib.gzipSync(body)
        : encoding === "br"
        ? zlib.brotliCompressSync(body)
        : body;
      const flagged = encoding === "identity" ? undefined : encoding;
      const given = await send(place, SIGNAL, type, bodyOf(type, packed, flagged), { encoding });
      assert.equal(given.code, undefined, `${type}, ${encoding}: ${given.text}`);
      assert.ok(seen[0]!.length > 200_000, `${type}, ${encoding}`);
    }
  }
  const fits = zlib.gzipSync(new Uint8Array(MOST - 1).fill(0x20), { level: 1 });
  decoded = 0;
  const given = await Promise.all(
    Array.from(
      { length: 8 },
      () => send(place, SIGNAL, "application/json", fits, { encoding: "gzip" }),
    ),
  );
  const codes = given.map(({ code }) => code);
  assert.ok(
    codes.includes("resource_exhausted"),
    `${codes}: there is a bound for all of them together`,
  );
  assert.ok(decoded < 8 * MOST, `${decoded} bytes were decoded`);
  const small = await send(place, SIGNAL, "application/json", new TextEncoder().encode("{}"));
  assert.equal(small.code, undefined, "and what was held is given back");
});

test("probes do not read bodies, and the gateway's WebSocket does not offer compression", async () => {
  const port = Number(probes.address.split(":")[1]);
  decoded = 0;
  for (const encoding of ["gzip", "br"]) {
    const given = await send(
      { http: 1, at: { port } },
      "/metrics",
      "application/json",
      bombs[encoding]!,
      { encoding },
    );
    assert.equal(given.status, 405);
  }
  assert.equal(decoded, 0);
  const { WebSocket } = await import("ws");
  const protocols = [
    "temporalex.gateway.v1",
    `temporalex.token.${new URL(gateway.url).hash.slice(1)}`,
  ];
  const socket = new WebSocket(`ws://127.0.0.1:${gateway.port}/socket`, protocols, {
    perMessageDeflate: true,
  });
  await new Promise((resolve, reject) => socket.on("message", resolve).on("error", reject));
  assert.equal(socket.extensions, "");
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.send(new Uint8Array(2 * GATEWAY_MOST));
  assert.equal(await closed, 1009);
});
