// Which callers a server on the loopback accepts: Host, Origin and token, over HTTP/1.1 and HTTP/2.
import assert from "node:assert/strict";
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type RequestListener,
} from "node:http";
import { connect, createServer as createServer2 } from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { endAfterGoaway } from "../../../ts/platform/deno_goaway_workaround.ts";
import { type GuardedRequest, HttpGuard, parseOrigin } from "../../../ts/server/http_guard.ts";

const PAGE = "https://app.example.com";
const guard = new HttpGuard({
  port: () => 7000,
  origins: [PAGE, "http://localhost:5173/"],
  token: "secret",
});
const ask = (headers: GuardedRequest["headers"], method = "POST"): GuardedRequest => ({
  method,
  headers: { host: "127.0.0.1:7000", authorization: "Bearer secret", ...headers },
});
const reason = (headers: GuardedRequest["headers"]) => guard.refuses(ask(headers))?.reason;

test("only loopback host names with the port are accepted", () => {
  for (const host of ["127.0.0.1:7000", "localhost:7000", "LocalHost:7000", "[::1]:7000"]) {
    assert.equal(reason({ host }), undefined, host);
    assert.equal(reason({ host: undefined, ":authority": host }), undefined, host);
  }
  const wrong = [
    "evil.example:7000",
    "127.0.0.1",
    "127.0.0.1:7001",
    "localhost.evil.example:7000",
    "127.0.0.1:7000.evil.example",
  ];
  for (
    const host of [
      ...wrong,
      "",
      "0.0.0.0:7000",
      "user@127.0.0.1:7000",
      "127.0.0.1:7000, evil.example",
    ]
  ) {
    assert.equal(reason({ host }), "host", host);
    assert.equal(reason({ ":authority": host }), "host", "each of the two must be right");
  }
  assert.equal(reason({ host: undefined }), "host", "a request without one is refused");
  const standard = new HttpGuard({ port: () => 80 });
  assert.equal(
    standard.refuses({ headers: { host: "localhost" } }),
    undefined,
    "browsers leave the standard port out",
  );
});

test("only exactly listed origins are accepted; programs send no Origin", () => {
  assert.equal(reason({}), undefined);
  assert.equal(reason({ origin: PAGE }), undefined);
  assert.equal(reason({ origin: "http://localhost:5173" }), undefined);
  for (
    const origin of [
      "https://evil.example",
      "http://app.example.com",
      "https://app.example.com.evil.example",
      "https://app.example.com:444",
      "https://sub.app.example.com",
      "null",
      "",
      `${PAGE}, https://evil.example`,
    ]
  ) {
    assert.equal(reason({ origin }), "origin", origin);
  }
  assert.equal(
    reason({ "sec-fetch-site": "cross-site" }),
    "origin",
    "an image or a link of a page",
  );
  assert.equal(reason({ "sec-fetch-site": "none" }), undefined, "the user typed the address");
  const none = new HttpGuard({ port: () => 7000 });
  assert.equal(
    none.refuses(ask({ origin: PAGE }))?.reason,
    "origin",
    "without a list no page is let in",
  );
  assert.equal(none.refuses(ask({ origin: "http://localhost:7000" }))?.reason, "origin");
  const own = new HttpGuard({ port: () => 7000, ownPages: true });
  assert.equal(own.refuses(ask({ origin: "http://localhost:7000" })), undefined);
  assert.equal(own.refuses(ask({ origin: "https://localhost:7000" }))?.reason, "origin");
  assert.equal(own.refuses(ask({ origin: "http://localhost:7001" }))?.reason, "origin");
});

test("the token is checked last and is not quoted in errors", () => {
  assert.equal(reason({ authorization: undefined }), "token");
  for (
    const authorization of [
      "Bearer secrets",
      "Bearer secre",
      "Basic secret",
      "secret",
      "Bearer ",
      "Bearer secret secret",
    ]
  ) {
    assert.equal(reason({ authorization }), "token", authorization);
  }
  const { message, status } = guard.refuses(ask({ authorization: "Bearer wrong-token" }))!;
  assert.equal(status, 401);
  assert.ok(!/secret|wrong-token/.test(message), message);
  assert.equal(
    guard.refuses(ask({ authorization: undefined }), "secret"),
    undefined,
    "it may come elsewhere",
  );
  assert.equal(
    new HttpGuard({ port: () => 7000 }).refuses(ask({ authorization: undefined })),
    undefined,
  );
  const long = guard.refuses(ask({ origin: `https://${"x".repeat(5000)}` }))!;
  assert.ok(long.message.length < 250, "what a caller sends is not repeated at length");
});

test("a preflight request succeeds for listed origins, and for private networks if requested", () => {
  const question = {
    origin: PAGE,
    "access-control-request-method": "POST",
    authorization: undefined,
  };
  const headers = guard.preflightHeaders(ask(question, "OPTIONS"))!;
  assert.equal(headers["access-control-allow-origin"], PAGE);
  assert.match(headers["access-control-allow-headers"]!, /authorization, content-type/);
  assert.equal(headers["access-control-allow-private-network"], undefined);
  const local = guard.preflightHeaders(
    ask({ ...question, "access-control-request-private-network": "true" }, "OPTIONS"),
  )!;
  assert.equal(local["access-control-allow-private-network"], "true");
  assert.equal(
    guard.refusesSender(ask({ ...question, origin: "https://evil.example" }, "OPTIONS"))?.reason,
    "origin",
  );
  assert.equal(guard.preflightHeaders(ask({ origin: PAGE }, "OPTIONS")), undefined);
  assert.equal(guard.preflightHeaders(ask(question)), undefined);
});

test("an origin is scheme, host and port; the error for an invalid one states the format", () => {
  assert.equal(parseOrigin("https://App.Example.com/"), PAGE);
  assert.equal(parseOrigin("https://app.example.com:443"), PAGE);
  assert.equal(parseOrigin("chrome-extension://abcdef"), "chrome-extension://abcdef");
  for (const text of ["*", "null"]) {
    assert.throws(() => parseOrigin(text), /every site.*list each origin/);
  }
  for (
    const text of [
      "",
      "app.example.com",
      "localhost:5173",
      "https://a.example/path",
      "https://*.example.com",
      "https://u@a.example",
    ]
  ) {
    assert.throws(() => parseOrigin(text), /is not an origin; write scheme, host and port/, text);
  }
});

test("the guard works with handlers of HTTP/1.1 and HTTP/2", async () => {
  let port = 0;
  const refused: string[] = [];
  const inner = new HttpGuard({ port: () => port, origins: [PAGE], token: "secret" });
  const handler = inner.wrap(
    (_, response) => {
      response.statusCode = 200;
      response.end("in");
    },
    ({ reason }) => refused.push(reason),
  );
  const server = createServer(handler as RequestListener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ({ port } = server.address() as AddressInfo);
  const send = async (method: string, headers: { [name: string]: string }, body = "") => {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest({
        port,
        host: "127.0.0.1",
        method,
        headers: { host: `127.0.0.1:${port}`, ...headers },
      }, resolve)
        .on("error", reject).end(body);
    });
    let text = "";
    for await (const chunk of answer.setEncoding("utf8")) text += chunk;
    return { status: answer.statusCode, text, headers: answer.headers };
  };
  const bearer = { authorization: "Bearer secret" };
  const page = await send("POST", { ...bearer, origin: PAGE }, "body");
  assert.deepEqual([page.status, page.text, page.headers["access-control-allow-origin"]], [
    200,
    "in",
    PAGE,
  ]);
  assert.equal((await send("POST", bearer)).headers["access-control-allow-origin"], undefined);
  const foreign = await send(
    "POST",
    { ...bearer, origin: "https://evil.example" },
    "x".repeat(100_000),
  );
  assert.deepEqual([foreign.status, foreign.headers["access-control-allow-origin"]], [
    403,
    undefined,
  ]);
  assert.match(foreign.text, /the origin "https:\/\/evil.example" is not allowed/);
  assert.equal((await send("POST", { ...bearer, host: "evil.example" })).status, 403);
  assert.equal((await send("POST", { origin: PAGE })).status, 401);
  const question = { origin: PAGE, "access-control-request-method": "POST" };
  assert.equal((await send("OPTIONS", question)).status, 204);
  assert.equal(
    (await send("OPTIONS", { ...question, origin: "https://evil.example" })).status,
    403,
  );
  assert.deepEqual(refused, ["origin", "host", "token", "origin"]);
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));

  const server2 = createServer2(handler as Parameters<typeof createServer2>[1]);
  server2.on("session", endAfterGoaway);
  await new Promise<void>((resolve) => server2.listen(0, "127.0.0.1", resolve));
  ({ port } = server2.address() as AddressInfo);
  const session = connect(`http://127.0.0.1:${port}`);
  endAfterGoaway(session);
  const status = (headers: { [name: string]: string }) =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ":method": "POST", ":path": "/", ...headers });
      stream.on("response", (answer) => resolve(answer[":status"])).on("error", reject);
      stream.resume();
      stream.end();
    });
  assert.equal(await status(bearer), 200);
  assert.equal(await status({ ...bearer, ":authority": `localhost:${port}` }), 200);
  assert.equal(await status({ ...bearer, ":authority": "evil.example" }), 403);
  assert.equal(await status({ ...bearer, origin: "https://evil.example" }), 403);
  assert.equal(await status({}), 401);
  session.close();
  await new Promise((resolve) => server2.close(resolve));
});
