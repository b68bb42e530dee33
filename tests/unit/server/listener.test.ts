// What keeps callers from being a server's end: connections that are half open, silent, endless,
// deaf or too many, over HTTP/1.1 and HTTP/2.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect as http2Connect } from "node:http2";
import { connect, type NetConnectOpts, type Socket } from "node:net";
import { join } from "node:path";
import { after, test } from "node:test";
import "../../../ts/engine/mod.ts";
import { startDevServer } from "../../../ts/dev/server.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import type { AnyHandler } from "../../../ts/server/bounded_connections.ts";
import { endAfterGoaway } from "../../../ts/platform/deno_goaway_workaround.ts";
import { HttpGuard } from "../../../ts/server/http_guard.ts";
import { listen, type Listener, type ListenOptions } from "../../../ts/server/listener.ts";
import { until } from "../../support/until.ts";
import { send } from "../grpc/support/bodies.ts";
import { together } from "../../support/together.ts";

const awake = setInterval(() => {}, 1000);
after(() => clearInterval(awake));

const answers: AnyHandler = (request, response) => {
  request.resume();
  response.end("answer");
};
const LIMITS = { connections: 8, arrivalMs: 800, idleMs: 1500, stalledMs: 1000 };

async function withListener(
  options: Partial<ListenOptions>,
  body: (listener: Listener) => Promise<void>,
): Promise<void> {
  const listener = await listen({ at: { port: 0 }, handler: answers, limits: LIMITS, ...options });
  try {
    await body(listener);
  } finally {
    await listener.close(0);
  }
}

interface Caller {
  readonly socket: Socket;
  /** The server has destroyed the connection: not one half of it, all. */
  gone: boolean;
  heard: string;
}

/** A caller that keeps its half open whatever the other side does. */
function call(
  port: number,
  bytes: string | Uint8Array,
  more: Partial<NetConnectOpts> & { deaf?: boolean } = {},
): Promise<Caller> {
  return new Promise((resolve) => {
    const socket = connect(
      { port, host: "127.0.0.1", allowHalfOpen: true, ...more } as NetConnectOpts,
      () => {
        socket.write(bytes);
        resolve(caller);
      },
    );
    const caller: Caller = { socket, gone: false, heard: "" };
    socket.on("error", () => caller.gone = true).on("close", () => caller.gone = true);
    if (more.deaf !== true) socket.on("data", (part) => caller.heard += part.toString("latin1"));
  });
}

/**
 * A socket of which one half is closed takes what is written to it; one that is destroyed resets
 * it.
 */
async function destroyed(caller: Caller, what: string): Promise<void> {
  await until(`${what}: closed`, () => caller.gone || caller.socket.readableEnded);
  await until(`${what}: destroyed`, () => {
    if (!caller.gone && caller.socket.writable) caller.socket.write("x");
    return caller.gone;
  });
}

/** The status of a request on a separate connection. */
function status(port: number, headers: { [name: string]: string } = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    httpRequest({ host: "127.0.0.1", port, agent: false, headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode ?? 0);
    }).on("error", reject).end();
  });
}

const frame = (
  type: number,
  flags: number,
  stream: number,
  body: Uint8Array = new Uint8Array(0),
) => {
  const bytes = new Uint8Array(9 + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length * 256 + type);
  bytes[4] = flags;
  view.setUint32(5, stream);
  bytes.set(body, 9);
  return bytes;
};
const PREFACE = Buffer.concat([Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(4, 0, 0)]);
const literal = (name: string, value: string) =>
  Buffer.concat([
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ]);
const HEAD = Buffer.concat([
  literal(":method", "POST"),
  literal(":scheme", "http"),
  literal(":path", "/"),
  literal(":authority", "localhost"),
]);

together({
  "half-open connections block no caller: unauthenticated ones are closed first, and destroyed after a timeout":
    async () => {
      let port = 0;
      const guard = new HttpGuard({ port: () => port, token: "t" });
      await withListener({ http: 1, guard }, async (listener) => {
        port = listener.port;
        const strangers = await Promise.all(
          Array.from(
            { length: LIMITS.connections * 2 },
            () => call(port, `POST / HTTP/1.1\r\nhost: localhost:${port}\r\n`),
          ),
        );
        assert.equal(
          await status(port, { authorization: "Bearer t" }),
          200,
          "while they are there",
        );
        assert.equal(await status(port), 401);
        for (const each of strangers) await destroyed(each, "a stranger");
        for (
          const half of [
            "",
            "GET / HTTP/1.1\r\n",
            "\x16\x03\x01 no HTTP \r\n\r\n",
            `POST / HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-length: 9\r\n\r\nx`,
          ]
        ) {
          const caller = await call(port, half);
          await destroyed(caller, JSON.stringify(half));
        }
        assert.equal(await status(port, { authorization: "Bearer t" }), 200);
      });
    },

  "over HTTP/2: without a preface, with half of one, and with one alone for longer than connections may be idle":
    async () => {
      await withListener({}, async ({ port }) => {
        const callers = await Promise.all(
          ["", "PRI * HT", "GET / HTTP/1.1\r\nhost: x\r\n\r\n", PREFACE].map((bytes) =>
            call(port, bytes)
          ),
        );
        for (const caller of callers) {
          await until("it was destroyed", () => caller.gone || caller.socket.readableEnded);
        }
        const session = http2Connect(`http://127.0.0.1:${port}`);
        endAfterGoaway(session);
        let goodbye = false;
        session.on("goaway", () => goodbye = true).on("error", () => {});
        await until("an idle session ends", () => session.closed || session.destroyed);
        if (!("Deno" in globalThis)) {
          assert.ok(goodbye, "with a goodbye, so that a call that crosses it is sent again");
        }
      });
    },

  "a request whose body does not end is reset, and the others of its connection continue":
    async () => {
      await withListener({
        handler(request, response) {
          request.resume();
          request.on("end", () => response.end("whole"));
        },
      }, async ({ port }) => {
        const session = http2Connect(`http://127.0.0.1:${port}`);
        endAfterGoaway(session);
        session.on("error", () => {});
        const endless = session.request({ ":method": "POST", ":path": "/" });
        endless.on("error", () => {}).resume();
        endless.write("beginning");
        let cut = false;
        endless.on("close", () => cut = true);
        await until("it was cut", () => cut);
        const whole = session.request({ ":method": "POST", ":path": "/" });
        let text = "";
        whole.setEncoding("utf8").on("data", (part: string) => text += part).end("all of it");
        await until("another call of the connection completes", () => text === "whole");
        session.destroy();
      });
    },

  "a caller that does not read its response is disconnected": async () => {
    const large = new Uint8Array(64 * 1024 * 1024);
    let ended = 0;
    const handler: AnyHandler = (request, response) => {
      request.resume();
      response.on("close", () => ended++);
      response.end(large);
    };
    await withListener({ http: 1, handler }, async ({ port }) => {
      const deaf = await call(port, "GET / HTTP/1.1\r\nhost: x\r\n\r\n", { deaf: true });
      deaf.socket.pause();
      await until("its response was discarded", () => ended === 1);
    });
    await withListener({ handler }, async ({ port }) => {
      // It reads, and never opens its window.
      await call(port, Buffer.concat([PREFACE, frame(1, 5, 1, HEAD)]));
      await until("its response was discarded", () => ended === 2);
    });
  },

  "a caller that cancels thousands of calls loses its connection, and no other caller does":
    async () => {
      await withListener(
        {
          limits: { ...LIMITS, arrivalMs: 60_000, idleMs: 60_000 },
          handler: (request) => void request.resume(),
        },
        async ({ port }) => {
          const rude = await call(port, PREFACE);
          let stream = 1;
          await until("the connection was ended", () => {
            const calls: Uint8Array[] = [];
            for (let i = 0; i < 100; i++, stream += 2) {
              calls.push(
                frame(1, 4, stream, HEAD),
                frame(3, 0, stream, new Uint8Array([0, 0, 0, 8])),
              );
            }
            if (!rude.gone && rude.socket.writable) {
              rude.socket.write(Buffer.concat(calls));
            }
            return rude.gone || rude.socket.readableEnded;
          });
          // A caller that cancels a few hundred (a worker that stops its polls) does not.
          const session = http2Connect(`http://127.0.0.1:${port}`);
          endAfterGoaway(session);
          session.on("error", () => {});
          for (let i = 0; i < 500; i++) {
            const poll = session.request({ ":method": "POST", ":path": "/" });
            poll.on("error", () => {}).end();
            poll.close(8);
          }
          await new Promise((resolve) => setTimeout(resolve, 300));
          assert.ok(!session.closed && !session.destroyed);
          session.destroy();
        },
      );
    },

  "its end is in time, whatever its callers leave open": async () => {
    for (const http of [1, 2] as const) {
      const listener = await listen({
        at: { port: 0 },
        http,
        handler: (request) => void request.resume(),
      });
      const callers = await Promise.all([
        call(listener.port, http === 1 ? "POST / HTTP/1.1\r\nhost: x\r\n" : "PRI * HT"),
        call(
          listener.port,
          http === 1
            ? "GET / HTTP/1.1\r\nhost: x\r\n\r\n"
            : Buffer.concat([PREFACE, frame(1, 5, 1, HEAD)]),
        ),
        call(listener.port, ""),
      ]);
      await new Promise((resolve) => setTimeout(resolve, 100));
      const began = performance.now();
      await listener.close(200);
      assert.ok(performance.now() - began < 30_000);
      for (const caller of callers) await destroyed(caller, "a caller");
    }
  },
});

test("floods of headers, settings and pings close only their connection", async () => {
  await withListener(
    { limits: { ...LIMITS, arrivalMs: 60_000, idleMs: 60_000 } },
    async ({ port }) => {
      const field = Buffer.concat(
        Array.from({ length: 60 }, (_, i) => literal(`x-${i}`, "b".repeat(100))),
      );
      const floods: { readonly [name: string]: readonly [Uint8Array, () => Uint8Array, boolean] } =
        {
          headers: [
            Buffer.concat([PREFACE, frame(1, 0, 1, HEAD)]),
            () => frame(9, 0, 1, field),
            false,
          ],
          settings: [
            PREFACE,
            () => Buffer.concat(Array.from({ length: 500 }, () => frame(4, 0, 0))),
            true,
          ],
          pings: [
            PREFACE,
            () =>
              Buffer.concat(Array.from({ length: 500 }, () => frame(6, 0, 0, new Uint8Array(8)))),
            true,
          ],
        };
      for (const [name, [begin, more, deaf]] of Object.entries(floods)) {
        const caller = await call(port, begin, { deaf });
        if (deaf) {
          caller.socket.pause();
        }
        // Node's HTTP/2 ends these by itself, and Deno's only some: what is asked is that neither
        // harms others.
        const began = performance.now();
        while (!caller.gone && performance.now() - began < 2000) {
          if (caller.socket.writable && caller.socket.writableLength < 1e6) {
            caller.socket.write(more());
          }
          await new Promise((resolve) => setImmediate(resolve));
        }
        if (!("Deno" in globalThis)) {
          assert.ok(caller.gone, name);
        }
        caller.socket.destroy();
        const { text } = await send(
          { http: 2, at: { port } },
          "/",
          "application/json",
          new Uint8Array(0),
        );
        assert.equal(text, "answer", `after a flood of ${name}`);
      }
    },
  );
});

test("a handler that throws causes an error response, also with an invalid authority", async () => {
  const failures: Error[] = [];
  const handler: AnyHandler = () => {
    throw new Error("a bug");
  };
  for (const http of [1, 2] as const) {
    await withListener(
      { http, handler, onError: (error) => failures.push(error) },
      async ({ port }) => {
        const { status, text } = await send(
          { http, at: { port } },
          "/",
          "application/json",
          new Uint8Array(0),
        );
        assert.equal(status, 500);
        assert.doesNotMatch(text, /a bug/);
      },
    );
  }
  assert.equal(failures.length, 2);
  const dev = await startDevServer({
    port: 0,
    namespaces: ["default"],
    storeOf: () => undefined,
    logger: silentLogger,
  });
  try {
    for (const authority of ["[", "[::1", "%", "host:port"]) {
      const path = "/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo";
      const headers = { ":authority": authority };
      const { status, code } = await send(
        { http: 2, at: { port: dev.port } },
        path,
        "application/grpc",
        new Uint8Array(5),
        {
          headers,
        },
      );
      assert.deepEqual([status, code], [200, undefined], authority);
    }
  } finally {
    await dev.close();
  }
});

test("all servers of the product listen through one module with limits", () => {
  const files = (folder: string): string[] =>
    readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
      each.isDirectory() ? files(join(folder, each.name)) : [join(folder, each.name)]
    );
  const listening = files("ts").filter((file) =>
    /\.ts$/.test(file) &&
    /^(?!\s*(?:\/\/|\*)).*\b(?:createServer\d?|createSecureServer|Deno\.serve|Deno\.listen)\s*\(/m
      .test(
        readFileSync(file, "utf8"),
      )
  );
  assert.deepEqual(listening.map((file) => file.replaceAll("\\", "/")), ["ts/server/listener.ts"]);
});
