// TLS, client certificates and API keys, with certificates made by the test: what works, and that
// every error has a message that names the option, well before the deadline, in both runtimes.
// takes: 7 s
import assert from "node:assert/strict";
import {
  createSecureServer,
  createServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
} from "node:http2";
import { createServer as createHttpServer } from "node:http";
import { createServer as createTcpServer, type Server } from "node:net";
import { after, before, test } from "node:test";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";
import { Code, Connection, type ConnectOptions, ServiceError } from "../../../ts/grpc/mod.ts";
import { type Authority, authority, type Certificate } from "../../support/certificates.ts";
import { ScriptedService } from "../../support/scripted_service.ts";
import { untilAtRest } from "./support/at_rest.ts";
import { Servers } from "./support/servers.ts";
import { until } from "../../support/until.ts";

const DAY_MS = 86_400_000;
const KEY = "a key of 1.2-3_4";
let ours: Authority, others: Authority, client: Certificate, stranger: Certificate;
const servers = new Servers();

const service = new ScriptedService()
  .on(
    "getSystemInfo",
    () => ({ serverVersion: "9.8.7", capabilities: { supportsSchedules: true, nexus: true } }),
  )
  .on("describeNamespace", ({ namespace }) => {
    if (namespace === "ours") return { namespaceInfo: { name: namespace } };
    if (namespace === "theirs") {
      throw new ServiceError(Code.PERMISSION_DENIED, "Request unauthorized.");
    }
    throw new ServiceError(
      Code.NOT_FOUND,
      `Namespace ${namespace} is not found.`,
      "NamespaceNotFound",
      { namespace },
    );
  });

const handle = serviceHandler(service);
/** Responds to clients that know the key. */
function guarded(request: Http2ServerRequest, response: Http2ServerResponse): void {
  if (request.headers["authorization"] === `Bearer ${KEY}`) return handle(request, response);
  response.writeHead(200, {
    "content-type": "application/grpc",
    "grpc-status": "16",
    "grpc-message": "Request unauthorized.",
  });
  response.end();
}

before(async () => {
  [ours, others] = [authority("Our authority"), authority("Other authority")];
  [client, stranger] = [ours.issue("client"), others.issue("stranger")];
  const pair = ({ certificate, key }: Certificate) => ({ cert: certificate, key });
  const here = ["localhost", "127.0.0.1"];
  const server = pair(ours.issue("server", { hosts: here }));
  const old = pair(
    ours.issue("old", {
      hosts: here,
      from: new Date(Date.now() - 9 * DAY_MS),
      to: new Date(Date.now() - 3 * DAY_MS),
    }),
  );
  await servers.serve("tls", createSecureServer(server, handle));
  await servers.serve(
    "mtls",
    createSecureServer({
      ...server,
      ca: ours.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    }, handle),
  );
  await servers.serve("expired", createSecureServer(old, handle));
  await servers.serve(
    "named",
    createSecureServer(pair(ours.issue("named", { hosts: ["temporal.example"] })), handle),
  );
  await servers.serve("keyed", createSecureServer(server, guarded));
  await servers.serve("plain", createServer(handle));
  await servers.serve(
    "web",
    createHttpServer((_, response) => void response.end("hello")) as unknown as Server,
  );
  await servers.serve("silent", createTcpServer(() => {}));
  await servers.serve("closing", createTcpServer((socket) => void socket.destroy()));
});

after(() => servers.close());

const at = (name: string) => servers.at(name);
const trusting = () => ({ serverRootCaCertificate: ours.certificate });
const known = () => ({
  ...trusting(),
  clientCertificate: client.certificate,
  clientKey: client.key,
});

async function version(options: ConnectOptions): Promise<string> {
  const connection = await Connection.connect({ connectTimeout: "60s", ...options });
  try {
    return (await connection.serverInfo()).version;
  } finally {
    await connection.close();
  }
}

test("TLS works with the address's name or another one, with a client certificate, and without verification", async () => {
  assert.equal(await version({ address: at("tls"), tls: trusting() }), "9.8.7");
  assert.equal(
    await version({ address: `localhost:${servers.port("tls")}`, tls: trusting() }),
    "9.8.7",
  );
  assert.equal(
    await version({ address: at("named"), tls: { ...trusting(), serverName: "temporal.example" } }),
    "9.8.7",
  );
  assert.equal(await version({ address: at("mtls"), tls: known() }), "9.8.7");
  // Several authorities in one text; ours is the second.
  const both = others.certificate + ours.certificate;
  assert.equal(
    await version({ address: at("tls"), tls: { serverRootCaCertificate: both } }),
    "9.8.7",
  );
  assert.equal(
    await version({ address: at("expired"), tls: { disableHostVerification: true } }),
    "9.8.7",
  );
});

test("API keys, as text or from a function, use TLS by default", async () => {
  const options = { address: at("keyed"), tls: trusting() };
  assert.equal(await version({ ...options, apiKey: KEY }), "9.8.7");
  assert.equal(await version({ ...options, apiKey: () => Promise.resolve(KEY) }), "9.8.7");
  await assert.rejects(version({ address: at("plain"), apiKey: KEY }), /does not support TLS/);
  assert.equal(await version({ address: at("plain"), apiKey: KEY, tls: false }), "9.8.7");
});

test("connect checks the namespace, and reports capabilities", async () => {
  const connection = await Connection.connect({ address: at("plain"), namespace: "ours" });
  const { capabilities } = await connection.serverInfo();
  assert.equal(capabilities.supportsSchedules, true);
  assert.equal(capabilities.eagerWorkflowStart, false);
  await connection.close();
});

interface Wrong {
  what: string;
  options: () => ConnectOptions;
  code: number;
  says: RegExp;
}
const { UNAVAILABLE } = Code;
const WRONG: Wrong[] = [
  {
    what: "an unknown authority",
    options: () => ({ address: at("tls"), tls: true }),
    code: UNAVAILABLE,
    says:
      /cannot connect to 127\.0\.0\.1:\d+: .*not signed by a trusted authority; set `tls\.serverRootCaCertificate`/,
  },
  {
    what: "another authority",
    options: () => ({ address: at("tls"), tls: { serverRootCaCertificate: others.certificate } }),
    code: UNAVAILABLE,
    says: /not by the one in `tls\.serverRootCaCertificate`/,
  },
  {
    what: "a certificate for another name",
    options: () => ({ address: `localhost:${servers.port("named")}`, tls: trusting() }),
    code: UNAVAILABLE,
    says:
      /certificate is for other names; set `tls\.serverName` to the expected name.*temporal\.example/,
  },
  {
    what: "an expired certificate",
    options: () => ({ address: at("expired"), tls: trusting() }),
    code: UNAVAILABLE,
    says: /has expired/,
  },
  {
    what: "no client certificate where one is asked for",
    options: () => ({ address: at("mtls"), tls: trusting() }),
    code: UNAVAILABLE,
    says: /requires a client certificate: set `tls\.clientCertificate` and `tls\.clientKey`/,
  },
  {
    what: "a client certificate of another authority",
    options: () => ({
      address: at("mtls"),
      tls: { ...trusting(), clientCertificate: stranger.certificate, clientKey: stranger.key },
    }),
    code: UNAVAILABLE,
    says: /rejected the client certificate/,
  },
  {
    what: "TLS to a server that speaks none",
    options: () => ({ address: at("plain"), tls: trusting() }),
    code: UNAVAILABLE,
    says: /does not support TLS; omit `tls`/,
  },
  {
    what: "no TLS to a server that wants it",
    options: () => ({ address: at("tls") }),
    code: UNAVAILABLE,
    says: /set `tls`/,
  },
  {
    what: "a web server",
    options: () => ({ address: at("web") }),
    code: UNAVAILABLE,
    says: /is not a gRPC server/,
  },
  {
    what: "a server that says nothing",
    options: () => ({ address: at("silent"), attemptTimeout: "800ms", connectTimeout: "1s" }),
    code: UNAVAILABLE,
    says: /accepts connections, but did not respond like a gRPC server within 800 ms/,
  },
  {
    what: "a server that says nothing, in TLS",
    options: () => ({
      address: at("silent"),
      tls: true,
      attemptTimeout: "800ms",
      connectTimeout: "1s",
    }),
    code: UNAVAILABLE,
    says: /did not finish the TLS handshake within 800 ms/,
  },
  {
    what: "a port without a listener",
    options: () => ({ address: "127.0.0.1:1", connectTimeout: "1s" }),
    code: UNAVAILABLE,
    says:
      /cannot connect to 127\.0\.0\.1:1: no server listens on this address \(connect ECONNREFUSED/,
  },
  {
    what: "an unknown host name",
    options: () => ({ address: "temporal.invalid:7233", connectTimeout: "2s" }),
    code: UNAVAILABLE,
    says: /unknown host name "temporal\.invalid"|no connection within/,
  },
  {
    what: "a server that closes every connection",
    options: () => ({ address: at("closing"), connectTimeout: "2s" }),
    code: UNAVAILABLE,
    says: /closed the connection immediately|ECONNRESET/,
  },
  {
    what: "a wrong API key",
    options: () => ({ address: at("keyed"), tls: trusting(), apiKey: "another" }),
    code: Code.UNAUTHENTICATED,
    says:
      /cannot use the Temporal cluster at 127\.0\.0\.1:\d+: it rejected the credentials \(`apiKey`.*Request unauthorized/,
  },
  {
    what: "a namespace that is not there",
    options: () => ({ address: at("plain"), namespace: "nowhere" }),
    code: Code.NOT_FOUND,
    says: /namespace "nowhere" not found, or this caller has no access to it/,
  },
  {
    what: "a namespace of others",
    options: () => ({ address: at("plain"), namespace: "theirs" }),
    code: Code.PERMISSION_DENIED,
    says: /this caller has no permission for the namespace "theirs"/,
  },
  {
    what: "a function that gives no key",
    options: () => ({
      address: at("plain"),
      tls: false,
      connectTimeout: "400ms",
      apiKey: () => Promise.reject(new Error("the vault is sealed")),
    }),
    code: UNAVAILABLE,
    says: /`apiKey` failed: the vault is sealed/,
  },
];

for (const { what, options, code, says } of WRONG) {
  test(`${what} is reported`, async () => {
    const began = performance.now();
    let ticks = 0;
    const ticker = setInterval(() => ticks++, 10);
    try {
      await assert.rejects(version(options()), (error: Error) => {
        assert.ok(error instanceof ServiceError, error.stack);
        assert.match(error.message, says);
        assert.doesNotMatch(error.message, /\n|\.\.\/deps|[0-9A-F]{12}:error/);
        assert.equal(error.code, code);
        return true;
      });
      assert.ok(performance.now() - began < 40_000, "well before the deadline");
      await untilAtRest();
      // Other work continues.
      await until("the ticker continues", () => ticks >= 4);
    } finally {
      clearInterval(ticker);
    }
  });
}

test("a lazy client reports the same errors at its first call", async () => {
  const connection = Connection.lazy({ address: at("mtls"), tls: trusting() });
  await assert.rejects(
    connection.call("getSystemInfo", new Uint8Array(0), { timeoutMs: 60_000 }),
    (error: ServiceError) => error.code === UNAVAILABLE && /client certificate/.test(error.message),
  );
  await connection.close();
  await assert.rejects(connection.serverInfo(), /closed/);
});

test("connecting can be canceled", async () => {
  const abort = new AbortController();
  const connecting = Connection.connect({ address: at("silent"), signal: abort.signal });
  setTimeout(() => abort.abort(new Error("enough")), 50);
  await assert.rejects(connecting, /enough/);
});

test("a caller that waits for a server gets the reason of each failed attempt", async () => {
  const abort = new AbortController();
  const reasons: ServiceError[] = [];
  const connecting = Connection.connect({
    address: "127.0.0.1:1",
    connectTimeout: "60s",
    signal: abort.signal,
    onRetry: (reason) => {
      if (reasons.push(reason) === 3) abort.abort(new Error("seen enough"));
    },
  });
  await assert.rejects(connecting, /seen enough/);
  assert.equal(reasons.length, 3);
  for (const { code, message } of reasons) {
    assert.equal(code, UNAVAILABLE);
    assert.match(message, /cannot connect to 127\.0\.0\.1:1: no server listens on this address/);
  }
});

test("invalid options are rejected before anything connects", async () => {
  const lazy = (options: object) => () => Connection.lazy({ address: "x:1", ...options } as never);
  assert.throws(
    lazy({ tls: { clientKey: client.key } }),
    /set both tls\.clientCertificate and tls\.clientKey/,
  );
  assert.throws(
    lazy({ tls: { clientCertificate: client.certificate, clientKey: stranger.key } }),
    /not the key of/,
  );
  assert.throws(
    lazy({ tls: { clientCertificate: client.certificate, clientKey: "secret.pem" } }),
    /tls\.clientKey is not a key/,
  );
  assert.throws(
    lazy({ tls: { serverRootCaCertificate: "/etc/ca.pem" } }),
    /has no certificate.*not a path/,
  );
  const damaged = ours.certificate.replace(/\n[^-\n]{20}/, "\nAAAA");
  assert.throws(lazy({ tls: { serverRootCaCertificate: damaged } }), /invalid certificate/);
  assert.throws(
    lazy({ tls: { ca: "x" } }),
    /tls\.ca is not an option; known options: serverRootCaCertificate, /,
  );
  assert.throws(lazy({ tls: { serverName: 7 } }), /tls\.serverName must be a string, not number/);
  assert.throws(lazy({ apiKey: "key\n" }), /line break/);
  assert.throws(lazy({ apiKey: "" }), /empty/);
  assert.throws(
    lazy({ metadata: { "grpc-timeout": "1" } }),
    /"grpc-timeout" is not a valid metadata name/,
  );
  assert.throws(lazy({ metadata: { "x-bin": "text" } }), /must be bytes/);
  assert.throws(lazy({ metadata: { x: "ä" } }), /visible ASCII/);
  assert.throws(lazy({ keepAlive: { interval: "soon" } }), /"soon" is not a duration/);
  for (const address of ["https://x:7233", "x", "", "a b:1", "x:7233/path", "x:", 7]) {
    assert.throws(lazy({ address }), /host:port/, String(address));
  }
  Connection.lazy({ address: "[::1]:7233" });
  assert.throws(
    lazy({ adress: "x:1" }),
    /"adress" is not an option of a connection; known options: address, tls, /,
  );
  assert.throws(lazy({ namespace: "shop" }), /"namespace" is not an option/);
  await assert.rejects(Connection.connect({ adress: "x:1" } as never), /"adress" is not an option/);
  await assert.rejects(
    Connection.connect({ namespace: "" }),
    /a namespace must be a non-empty string/,
  );
});
