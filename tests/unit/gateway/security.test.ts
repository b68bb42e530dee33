// Which callers the gateway accepts, which limits it enforces, and which data it never sends.
// takes: 4 s
import assert from "node:assert/strict";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { newToken } from "../../../ts/gateway/server.ts";
import { Code, type RawService, ServiceError } from "../../../ts/service/raw.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { listen } from "../../../ts/server/listener.ts";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";
import { until } from "../../support/until.ts";
import { PAGE, rawSocket, sendBytes, upgrade, withGateway } from "./support/gateway.ts";

const calls: { method: string; request: Uint8Array }[] = [];
const service: RawService = {
  call(method, request) {
    calls.push({ method, request });
    return Promise.resolve(request.slice());
  },
};
const METHOD = "/temporal.api.workflowservice.v1.WorkflowService/SignalWorkflowExecution";
const SECRET_TEXT = "the customer's secret";
/** Field 1, the namespace, and a payload that no log may show. */
const body = Uint8Array.from([
  10,
  7,
  ...new TextEncoder().encode("default"),
  26,
  21,
  ...new TextEncoder().encode(SECRET_TEXT),
]);
const PROTOCOL = "temporalex.gateway.v1";

interface Sent {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string | undefined };
  readonly body?: Uint8Array;
}

/** A call as Connect's clients make it. Headers that are undefined are left out. */
async function send(
  port: number,
  token: string,
  { method = "POST", path = METHOD, headers = {}, body: sent = body }: Sent = {},
) {
  const all = {
    ...{
      host: `127.0.0.1:${port}`,
      "content-type": "application/proto",
      "connect-protocol-version": "1",
    },
    authorization: `Bearer ${token}`,
    ...headers,
  };
  const given = Object.fromEntries(
    Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = httpRequest({ host: "127.0.0.1", port, path, method, headers: given }, resolve);
    request.on("error", reject);
    request.end(method === "POST" ? sent : undefined);
  });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer) chunks.push(chunk as Uint8Array);
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes: Buffer.concat(chunks),
    text: Buffer.concat(chunks).toString(),
  };
}

test("over HTTP: a listed page and a program with the token are accepted; other requests are rejected and not forwarded", async () => {
  await withGateway({ service }, async ({ gateway: { port }, token }) => {
    calls.length = 0;
    const page = await send(port, token, { headers: { origin: PAGE } });
    assert.deepEqual([
      page.status,
      page.headers["access-control-allow-origin"],
      page.headers["vary"],
    ], [200, PAGE, "origin"]);
    assert.deepEqual(new Uint8Array(page.bytes), body);
    assert.equal((await send(port, token)).status, 200);
    assert.deepEqual(calls.map(({ method }) => method), [
      "signalWorkflowExecution",
      "signalWorkflowExecution",
    ]);
    const foreign = { origin: "https://evil.example" };
    const refused: [string, number, Sent][] = [
      ["a foreign page", 403, { headers: foreign }],
      ["a page of nowhere", 403, { headers: { origin: "null" } }],
      ["an image of a page", 403, {
        method: "GET",
        headers: { "sec-fetch-site": "cross-site", authorization: undefined },
      }],
      ["no token", 401, { headers: { authorization: undefined } }],
      ["a listed page without it", 401, { headers: { origin: PAGE, authorization: undefined } }],
      ["a wrong token", 401, { headers: { authorization: `Bearer ${newToken()}` } }],
      ["a token with more behind it", 401, { headers: { authorization: `Bearer ${token}x` } }],
      ["the token in the path", 401, {
        path: `${METHOD}?token=${token}`,
        headers: { authorization: undefined },
      }],
      ["a rebound name", 403, { headers: { host: `evil.example:${port}` } }],
      ["another port's host", 403, { headers: { host: "127.0.0.1:1" } }],
      ["the landing page of a rebound name", 403, {
        method: "GET",
        path: "/",
        headers: { host: `evil.example:${port}` },
      }],
    ];
    calls.length = 0;
    for (const [what, status, sent] of refused) {
      const answer = await send(port, token, sent);
      assert.equal(answer.status, status, what);
      assert.ok(!answer.text.includes(token) && !answer.text.includes(SECRET_TEXT), what);
      if (sent.headers?.["origin"] !== PAGE) {
        assert.equal(answer.headers["access-control-allow-origin"], undefined, what);
      }
    }
    assert.deepEqual(calls, []);
  });
});

test("preflight requests of listed origins succeed, with private networks if requested; the landing page has no secret", async () => {
  await withGateway({ service }, async ({ gateway: { port }, token }) => {
    const question = { authorization: undefined, "access-control-request-method": "POST" };
    const ask = (headers: Sent["headers"]) =>
      send(port, token, { method: "OPTIONS", headers: { ...question, ...headers } });
    const local = await ask({ origin: PAGE, "access-control-request-private-network": "true" });
    assert.deepEqual(
      [
        local.status,
        local.headers["access-control-allow-origin"],
        local.headers["access-control-allow-private-network"],
      ],
      [204, PAGE, "true"],
    );
    assert.match(
      local.headers["access-control-allow-headers"]!,
      /authorization.*connect-protocol-version/,
    );
    const foreign = await ask({
      origin: "https://evil.example",
      "access-control-request-private-network": "true",
    });
    assert.deepEqual([foreign.status, foreign.headers["access-control-allow-private-network"]], [
      403,
      undefined,
    ]);
    const landing = await send(port, token, {
      method: "GET",
      path: "/",
      headers: { authorization: undefined },
    });
    assert.equal(landing.status, 200);
    assert.match(
      landing.text,
      /It is not a web page: pass its URL, with the token, to connectGateway\(\)/,
    );
    assert.ok(!landing.text.includes(token));
    assert.equal((await send(port, token, { method: "GET", path: "/socket" })).status, 404);
  });
});

test("over WebSockets: the same before any message is read; a wrong token closes with a code that pages can read", async () => {
  await withGateway({ service }, async ({ gateway: { port }, token, log }) => {
    const good = [PROTOCOL, `temporalex.token.${token}`];
    assert.equal(await upgrade(port, { protocols: good }), "opened");
    assert.equal(await upgrade(port, { protocols: good, headers: { origin: PAGE } }), "opened");
    assert.equal(
      await upgrade(port, { protocols: good, headers: { origin: "https://evil.example" } }),
      "403",
    );
    assert.equal(await upgrade(port, { protocols: good, headers: { origin: "null" } }), "403");
    assert.equal(
      await upgrade(port, { protocols: good, headers: { host: `evil.example:${port}` } }),
      "403",
    );
    assert.equal(
      await upgrade(port, { protocols: [PROTOCOL], headers: { origin: PAGE } }),
      "closed 4401",
    );
    assert.equal(
      await upgrade(port, { protocols: [PROTOCOL, `temporalex.token.${newToken()}`] }),
      "closed 4401",
    );
    assert.equal(
      await upgrade(port, { protocols: [PROTOCOL], headers: { authorization: `Bearer ${token}` } }),
      "closed 4401",
    );
    assert.equal(await upgrade(port, { protocols: [good[1]!] }), "400");
    assert.equal(await upgrade(port, { protocols: good, path: "/socket/" }), "404");
    assert.equal(await upgrade(port, { protocols: good, path: `/?${token}` }), "404");
    assert.ok(
      log.some((line) =>
        /rejected why=the origin "https:\/\/evil.example" is not allowed/.test(line)
      ),
    );
  });
});

test("oversized requests are not read to their end: with and without a length, and over a WebSocket", async () => {
  await withGateway(
    { service, limits: { requestBytes: 1000 } },
    async ({ gateway: { port }, token }) => {
      calls.length = 0;
      assert.equal((await send(port, token, { body: new Uint8Array(1001) })).status, 413);
      const head =
        `POST ${METHOD} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\ncontent-type: application/proto\r\n` +
        "connect-protocol-version: 1\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
      const chunk = `400\r\n${"x".repeat(1024)}\r\n`;
      const { answer } = await sendBytes(port, `${head}${chunk.repeat(64)}0\r\n\r\n`);
      assert.ok(answer === "" || /^HTTP\/1\.1 (?:429|413|400)/.test(answer), answer);
      if (answer !== "") assert.match(answer, /resource_exhausted|413/);
      const { WebSocket } = await import("ws");
      const socket = new WebSocket(`ws://127.0.0.1:${port}/socket`, [
        PROTOCOL,
        `temporalex.token.${token}`,
      ]);
      socket.on("error", () => {});
      await new Promise((resolve) => socket.once("message", resolve));
      const closed = new Promise((resolve) => socket.on("close", resolve));
      socket.send(new Uint8Array(5000));
      assert.equal(await closed, 1009);
      assert.deepEqual(calls, []);
      assert.ok(
        /^HTTP\/1\.1 4/.test(
          (await sendBytes(
            port,
            `GET / HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nx: ${"y".repeat(100_000)}\r\n\r\n`,
          )).answer,
        ),
      );
    },
  );
});

test("an incomplete request times out and does not block other callers", async () => {
  await withGateway(
    { service, limits: { arrivalMs: 1500 } },
    async ({ gateway: { port }, token }) => {
      calls.length = 0;
      const head = `POST ${METHOD} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`;
      const authorized =
        `${head}authorization: Bearer ${token}\r\ncontent-type: application/proto\r\nconnect-protocol-version: 1\r\n`;
      const half = [
        ["nothing", ""],
        ["half of the headers", head],
        ["half of the body, without a token", `${head}content-length: 100\r\n\r\nxyz`],
        ["half of the body", `${authorized}content-length: 100\r\n\r\nxyz`],
        ["half of a chunk", `${authorized}transfer-encoding: chunked\r\n\r\n40\r\nxyz`],
        [
          "half of an upgrade",
          `GET /socket HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nupgrade: websocket\r\n`,
        ],
        [
          "an upgrade that is refused",
          `GET /x HTTP/1.1\r\nhost: evil\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
        ],
        [
          "an upgrade to something else",
          `GET /socket HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n`,
        ],
      ] as const;
      const ended = half.map(async ([what, text]) =>
        [what, (await sendBytes(port, text)).ms] as const
      );
      assert.equal((await send(port, token)).status, 200, "others are served meanwhile");
      for (const [what, ms] of await Promise.all(ended)) {
        assert.ok(
          ms < 20_000,
          `${what}: closed after ${Math.round(ms)} ms`,
        );
      }
      assert.equal(calls.length, 1);
    },
  );
});

test("a call over HTTP may outlast the request timeout, and ends with its caller", async () => {
  let aborted = false, calls = 0;
  const slow: RawService = {
    call: (_, request, { signal } = {}) =>
      new Promise((resolve) => {
        calls++;
        let responded = false;
        const timer = setTimeout(() => resolve((responded = true, request.slice())), 2500);
        signal?.addEventListener("abort", () => (aborted ||= !responded, clearTimeout(timer)));
      }),
  };
  await withGateway(
    { service: slow, limits: { arrivalMs: 1500 } },
    async ({ gateway: { port }, token }) => {
      assert.equal((await send(port, token)).status, 200);
      assert.ok(!aborted);
      const text =
        `POST ${METHOD} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: Bearer ${token}\r\n` +
        `content-type: application/proto\r\nconnect-protocol-version: 1\r\ncontent-length: 0\r\n\r\n`;
      const socket = connect(port, "127.0.0.1", () => socket.write(text));
      await until("the call has arrived", () => calls === 2);
      socket.destroy();
      await until("the call was canceled", () => aborted);
    },
  );
});

test("connections are limited: only connections without a token are closed early", async () => {
  await withGateway(
    { service, limits: { connections: 4 } },
    async ({ gateway: { port }, token }) => {
      const ended: boolean[] = [];
      const idle = await Promise.all(
        Array.from({ length: 4 }, (_, i) =>
          new Promise<ReturnType<typeof connect>>((resolve) => {
            const socket = connect(port, "127.0.0.1", () => resolve(socket));
            socket.on("error", () => {}).on("close", () => ended[i] = true).resume();
          })),
      );
      assert.equal(
        (await send(port, token, { headers: { connection: "close" } })).status,
        200,
        "a fifth is let in",
      );
      await until("one of the four has given way", () => ended.includes(true));
      assert.equal(ended.filter(Boolean).length, 1);
      const callers = [];
      for (let i = 0; i < 4; i++) callers.push(await rawSocket(port, token));
      await until("the others have, too", () => ended.filter(Boolean).length === 4);
      await until(
        "the fifth is turned away",
        () => send(port, token).then(() => false, () => true),
      );
      assert.ok(callers.every((caller) => caller.readyState === caller.OPEN));
      for (const caller of callers) caller.terminate();
      await until(
        "there is room again",
        () => send(port, token).then(({ status }) => status === 200, () => false),
      );
      for (const socket of idle) socket.destroy();
    },
  );
});

test("disallowed methods and namespaces are rejected over HTTP, in binary and in JSON", async () => {
  let count = 0;
  const counting: RawService = { call: () => (count++, Promise.resolve(new Uint8Array(0))) };
  await withGateway(
    { service: counting, namespaces: ["default"] },
    async ({ gateway: { port }, token }) => {
      assert.equal((await send(port, token)).status, 200);
      const other = Uint8Array.from([10, 7, ...new TextEncoder().encode("payroll")]);
      const refused = await send(port, token, { body: other });
      assert.equal(refused.status, 403);
      assert.match(refused.text, /permission_denied.*uses the namespace \\"payroll\\"/);
      const json = { "content-type": "application/json" };
      const named = (namespace: string) => new TextEncoder().encode(JSON.stringify({ namespace }));
      assert.equal(
        (await send(port, token, { headers: json, body: named("payroll") })).status,
        403,
      );
      assert.equal(
        (await send(port, token, { headers: json, body: named("default") })).status,
        200,
      );
      assert.equal(count, 2);
      for (
        const path of [
          "/temporal.api.workflowservice.v1.WorkflowService/DropTables",
          "/temporal.api.operatorservice.v1.OperatorService/DeleteNamespace",
          "/grpc.health.v1.Health/Check",
          "/../etc/passwd",
        ]
      ) {
        const { status } = await send(port, token, { path });
        assert.ok(status === 404 || status === 501, `${path}: ${status}`);
      }
      assert.equal(count, 2);
    },
  );
});

test("pages can read gRPC-web responses and errors of the service", async () => {
  const refusing: RawService = {
    call: () => Promise.reject(new ServiceError(Code.NOT_FOUND, "no such workflow", "NotFound")),
  };
  await withGateway({ service: refusing }, async ({ gateway: { port }, token }) => {
    const connectAnswer = await send(port, token, { headers: { origin: PAGE } });
    assert.equal(connectAnswer.status, 404);
    assert.equal(JSON.parse(connectAnswer.text).code, "not_found");
    const framed = Uint8Array.from([0, 0, 0, 0, body.length, ...body]);
    const web = await send(port, token, {
      headers: { origin: PAGE, "content-type": "application/grpc-web+proto", "x-grpc-web": "1" },
      body: framed,
    });
    assert.equal(web.status, 200);
    assert.match(`${web.headers["grpc-status"] ?? ""} ${web.text}`, /5|grpc-status: 5/);
    assert.match(web.headers["access-control-expose-headers"]!, /grpc-status/);
  });
});

test("the log contains each rejection once, and neither payload nor token", async () => {
  const failing: RawService = {
    call: (method) =>
      Promise.reject(
        method === "getSystemInfo"
          ? new TypeError("a bug")
          : new ServiceError(Code.INTERNAL, "broken"),
      ),
  };
  await withGateway({ service: failing }, async ({ gateway: { port }, token, dial, log }) => {
    const wrong = newToken();
    for (let i = 0; i < 5; i++) {
      await send(port, token, { headers: { origin: "https://evil.example" } });
      await send(port, wrong);
      await send(port, token);
      await upgrade(port, { protocols: [PROTOCOL, `temporalex.token.${wrong}`] });
    }
    for (let i = 0; i < 200; i++) {
      await send(port, token, { headers: { origin: `https://${i}.evil.example` } });
    }
    const connection = await dial();
    await assert.rejects(connection.call("startWorkflowExecution", body));
    await assert.rejects(connection.call("getSystemInfo", body));
    const text = log.join("\n");
    for (const secret of [token, wrong, SECRET_TEXT, "customer"]) {
      assert.ok(!text.includes(secret), secret);
    }
    assert.equal(text.match(/"https:\/\/evil\.example"/g)?.length, 1);
    assert.ok(log.length < 70, `${log.length} lines`);
    assert.match(
      text,
      /a caller was rejected why=the token is invalid, perhaps from an earlier start/,
    );
  });
});

test("the cluster gets the gateway's credentials but not the caller's; the caller does not get the gateway's", async () => {
  const seen: { [name: string]: unknown }[] = [];
  const handler = serviceHandler({ call: (_, request) => Promise.resolve(request.slice()) });
  const cluster = await listen({
    at: { port: 0 },
    handler(request, response) {
      seen.push({ ...request.headers });
      handler(request, response);
    },
  });
  const upstream = new GrpcService({
    address: `127.0.0.1:${cluster.port}`,
    tls: false,
    apiKey: "upstream-key",
    metadata: { team: "a" },
  });
  await withGateway({ service: upstream }, async ({ gateway: { port }, token, dial, log }) => {
    const connection = await dial();
    assert.deepEqual(await connection.call("signalWorkflowExecution", body), body);
    const page = await send(port, token, {
      headers: { origin: PAGE, cookie: "a=b", "x-mine": "1", team: "b" },
    });
    assert.equal(page.status, 200);
    assert.equal(seen.length, 2);
    for (const headers of seen) {
      assert.deepEqual([headers["authorization"], headers["team"]], ["Bearer upstream-key", "a"]);
      const text = JSON.stringify(headers);
      for (const secret of [token, PAGE, "a=b", "x-mine"]) {
        assert.ok(!text.includes(secret), secret);
      }
    }
    assert.ok(!`${JSON.stringify(page.headers)} ${log.join()}`.includes("upstream-key"));
  });
  upstream.close();
  await cluster.close(0);
});

test("the gateway listens only on both loopback addresses", async () => {
  await withGateway({ service }, async ({ gateway: { port }, token }) => {
    const { networkInterfaces } = await import("node:os");
    const others = Object.values(networkInterfaces()).flat().filter((each) =>
      each !== undefined && !each.internal
    );
    for (const { address, family } of others as { address: string; family: string }[]) {
      if (family !== "IPv4") continue;
      assert.equal((await sendBytes(port, "GET / HTTP/1.1\r\n\r\n", address)).answer, "", address);
    }
    const loopback = Object.values(networkInterfaces()).flat().some((each) =>
      each?.address === "::1"
    );
    if (!loopback) return;
    const head = `GET / HTTP/1.1\r\nhost: [::1]:${port}\r\nconnection: close\r\n\r\n`;
    assert.match((await sendBytes(port, head, "::1")).answer, /^HTTP\/1\.1 200/);
    assert.equal((await send(port, token)).status, 200);
  });
});
