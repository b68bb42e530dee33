// Connections through an HTTP proxy: plain and TLS; the proxy gets only the target and its own
// credentials; tunnels are restored; and every error of a proxy is reported with its reason, in
// time, in both runtimes.
// takes: 4 s
import assert from "node:assert/strict";
import { createSecureServer, createServer } from "node:http2";
import type { Socket } from "node:net";
import { after, afterEach, before, beforeEach, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { inspect } from "node:util";
import {
  Code,
  Connection,
  type ConnectOptions,
  proxyFromEnvironment,
  ServiceError,
} from "../../../ts/grpc/mod.ts";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";
import { type Authority, authority, type Certificate } from "../../support/certificates.ts";
import { ScriptedService, waits } from "../../support/scripted_service.ts";
import { ConnectProxy } from "./support/connect_proxy.ts";
import { untilAtRest } from "./support/at_rest.ts";
import { Servers } from "./support/servers.ts";
import { together } from "../../support/together.ts";
import { until } from "../../support/until.ts";

const SECRET = "s3cr3t:with/ä colon";
const basicAuth = { username: "ada", password: SECRET };
const service = new ScriptedService().on(
  "getSystemInfo",
  () => ({ serverVersion: "9.8.7", capabilities: {} }),
);
const handle = serviceHandler(service);
let ours: Authority, client: Certificate, proxy: ConnectProxy;
const servers = new Servers();
const seen: { name: string | undefined | null | false; key: string | undefined }[] = [];
const connections: Connection[] = [];

before(async () => {
  ours = authority("Our authority");
  client = ours.issue("client");
  const pair = ({ certificate, key }: Certificate) => ({ cert: certificate, key });
  const secure = (hosts: string[], more = {}) =>
    createSecureServer(
      { ...pair(ours.issue(hosts[0]!, { hosts })), ...more },
      (request, response) => {
        const { servername } = request.stream.session!.socket as TLSSocket;
        seen.push({ name: servername, key: request.headers["authorization"] });
        handle(request, response);
      },
    );
  await servers.serve("plain", createServer(handle));
  await servers.serve("named", secure(["cluster.example"]));
  await servers.serve("numbered", secure(["127.0.0.1"]));
  await servers.serve(
    "mtls",
    secure(["cluster.example"], {
      ca: ours.certificate,
      requestCert: true,
      rejectUnauthorized: true,
    }),
  );
});
after(() => servers.close());
beforeEach(async () => {
  proxy = await ConnectProxy.start();
  seen.length = 0;
});
afterEach(async () => {
  for (const connection of connections.splice(0)) await connection.close();
  await proxy.stop();
});

const at = (name: string) => servers.at(name);
const by = () => ({ type: "http-connect" as const, targetHost: proxy.address });
const trusting = () => ({ serverRootCaCertificate: ours.certificate });

async function connect(options: ConnectOptions): Promise<Connection> {
  const connection = await Connection.connect({ proxy: by(), connectTimeout: "60s", ...options });
  connections.push(connection);
  assert.equal((await connection.serverInfo()).version, "9.8.7");
  return connection;
}

test("without TLS the proxy gets the target and the credentials", async () => {
  await connect({ address: at("plain") });
  assert.match(
    proxy.heads[0]!,
    new RegExp(
      `^CONNECT ${at("plain")} HTTP/1\\.1\r\nhost: ${at("plain")}\r\nuser-agent: temporalex-ts/`,
    ),
  );
  assert.doesNotMatch(proxy.heads[0]!, /authorization/i);
  proxy.auth = `ada:${SECRET}`;
  await connect({ address: at("plain"), proxy: { ...by(), basicAuth } });
  await connect({
    address: at("plain"),
    proxy: { targetHost: `http://${proxy.address}/`, basicAuth },
  });
});

test("the server's first frame may arrive together with the proxy's response", async () => {
  // This one greets before it is greeted.
  proxy.misdeed = (socket, _, tunnel) => {
    proxy.late = true;
    socket.resume();
    tunnel();
  };
  await connect({ address: at("plain") });
});

test("the proxy's response may arrive in many pieces and after an interim response", async () => {
  proxy.misdeed = (socket, _, tunnel) => {
    const write = socket.write.bind(socket);
    let sent = Promise.resolve();
    // Each byte of the first answer on its own.
    socket.write = ((bytes: Uint8Array) => {
      socket.write = write;
      for (const byte of [...Buffer.from("HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n"), ...bytes]) {
        sent = sent.then(() =>
          new Promise((resolve) => void write(Uint8Array.of(byte), () => resolve()))
        );
      }
      return true;
    }) as typeof socket.write;
    tunnel();
  };
  await connect({ address: at("plain") });
});

test("TLS: name and certificate belong to the cluster, whose name only the proxy resolves; the proxy never sees the API key", async () => {
  proxy.routes.set("cluster.example:7233", servers.port("named"));
  proxy.auth = `ada:${SECRET}`;
  const options = {
    address: "cluster.example:7233",
    tls: trusting(),
    proxy: { ...by(), basicAuth },
  };
  await connect({ ...options, apiKey: "the-key" });
  assert.deepEqual(seen[0], { name: "cluster.example", key: "Bearer the-key" });
  assert.doesNotMatch(proxy.heads.join(""), /the-key|Bearer/);
  // An address has no name to ask for, and is in the certificate itself.
  await connect({ ...options, address: at("numbered") });
  assert.ok(!seen.at(-1)!.name, String(seen.at(-1)!.name));
  const wrong = (more: object) =>
    Connection.connect({ ...options, connectTimeout: "60s", ...more });
  await assert.rejects(
    wrong({ address: at("named") }),
    /through the proxy .*certificate is for other names/,
  );
  proxy.routes.set("elsewhere.example:7233", servers.port("named"));
  await assert.rejects(
    wrong({ address: "elsewhere.example:7233" }),
    /certificate is for other names/,
  );
  await connect({
    ...options,
    address: "elsewhere.example:7233",
    tls: { ...trusting(), serverName: "cluster.example" },
  });
  await assert.rejects(
    wrong({ tls: true }),
    /not signed by a trusted authority.*a proxy that intercepts TLS/,
  );
  await assert.rejects(wrong({ address: at("plain") }), /does not support TLS/);
});

test("client certificates are sent to the cluster, not to the proxy", async () => {
  proxy.routes.set("cluster.example:7233", servers.port("mtls"));
  const known = { ...trusting(), clientCertificate: client.certificate, clientKey: client.key };
  await connect({ address: "cluster.example:7233", tls: known });
  await assert.rejects(
    Connection.connect({ address: "cluster.example:7233", tls: trusting(), proxy: by() }),
    /set `tls\.clientCertificate`/,
  );
});

for (const tls of [false, true]) {
  test(`a broken tunnel is reopened, large messages pass, and close closes the tunnel (${tls ? "TLS" : "plain"})`, async () => {
    proxy.routes.set("cluster.example:7233", servers.port(tls ? "named" : "plain"));
    const connection = await connect({
      address: "cluster.example:7233",
      tls: tls ? trusting() : false,
    });
    const before = proxy.heads.length;
    const big = new Uint8Array(3_000_000).fill(8);
    // An unknown field of three megabytes.
    big.set([0xfa, 0x3f, ...varint(big.length - 6)]);
    await connection.call("getSystemInfo", big);
    proxy.cut();
    await until("the tunnel is gone", () => proxy.open === 0);
    for (let tries = 0;; tries++) {
      try {
        await connection.call("getSystemInfo", new Uint8Array(0));
        break;
      } catch (error) {
        if (tries > 3 || (error as ServiceError).code !== Code.UNAVAILABLE) throw error;
      }
    }
    assert.equal(proxy.heads.length, before + 1);
    await connection.close();
    await until("both sides of the tunnel are closed", () => proxy.open === 0);
  });
}

function varint(value: number): number[] {
  return [value & 127 | 128, value >> 7 & 127 | 128, value >> 14 & 127 | 128, value >> 21];
}

test("a stalled tunnel is detected by a ping", async () => {
  const connection = await connect({
    address: at("plain"),
    keepAlive: { interval: "100ms", timeout: "1s" },
  });
  // It ends with its caller: what waits on would keep the process alive until the call's deadline.
  service.on("describeNamespace", (_, options) => waits(options));
  const call = connection.call("describeNamespace", new Uint8Array(0), { timeoutMs: 60_000 });
  const settled = assert.rejects(call, /did not acknowledge a keep-alive PING within 1000 ms/);
  await until("the server has the call", () => service.requests("describeNamespace").length === 1);
  proxy.freeze();
  await settled;
});

interface Wrong {
  what: string;
  does: (socket: Socket) => unknown;
  says: RegExp;
  options?: () => Partial<ConnectOptions>;
  /** With credentials for the proxy. */
  asks?: boolean;
  tls?: boolean;
  attempts?: number;
}
const say = (text: string) => (socket: Socket) => socket.end(text, "latin1");
const ESTABLISHED = "HTTP/1.1 200 OK\r\n\r\n";
const WRONG: Wrong[] = [
  {
    what: "a proxy that requires credentials",
    does: say('HTTP/1.1 407 x\r\nProxy-Authenticate: Basic realm="x"\r\n\r\n'),
    says:
      /^cannot connect to .* through the proxy 127\.0\.0\.1:\d+: the proxy requires credentials: set `proxy\.basicAuth` \(HTTP 407\)$/,
    attempts: 1,
  },
  {
    what: "wrong credentials, said back by the proxy",
    does: say(
      `HTTP/1.1 407 ada:${SECRET}\r\nProxy-Authenticate: ${SECRET}, Basic realm="${SECRET}"\r\n\r\n${SECRET}`,
    ),
    asks: true,
    says: /rejected the credentials in `proxy\.basicAuth` \(HTTP 407\)$/,
    attempts: 1,
  },
  {
    what: "a proxy that wants credentials of another kind",
    does: say(
      "HTTP/1.1 407 x\r\nproxy-authenticate: NTLM\r\nPROXY-AUTHENTICATE: Negotiate\r\n\r\n",
    ),
    asks: true,
    says: /unsupported credentials \(Negotiate, NTLM\); only Basic is supported \(HTTP 407\)$/,
    attempts: 1,
  },
  {
    what: "a proxy that forbids",
    does: say("HTTP/1.1 403 Forbidden\r\n\r\n"),
    says: /does not allow connections.*403/,
    attempts: 1,
  },
  {
    what: "a web server",
    does: say("HTTP/1.1 405 x\r\nallow: GET\r\n\r\n"),
    says: /does not support tunnels \(CONNECT\).*405/,
    attempts: 1,
  },
  {
    what: "a proxy that does not get there",
    options: () => ({ connectTimeout: "2s" }),
    does: say("HTTP/1.0 502\r\n\r\n"),
    says: /could not reach the address.*502/,
  },
  {
    what: "a proxy that sends elsewhere",
    does: say("HTTP/1.1 302 Found\r\nlocation: x\r\n\r\n"),
    says: /opened no tunnel \(HTTP 302\)$/,
  },
  {
    what: "a proxy that changes the protocol",
    does: say("HTTP/1.1 101 x\r\n\r\n"),
    says: /opened no tunnel \(HTTP 101\)$/,
  },
  {
    what: "something that speaks otherwise",
    does: say("SSH-2.0-OpenSSH_9\r\n"),
    says: /does not respond like an HTTP proxy$/,
  },
  {
    what: "an invalid status",
    does: say("HTTP/1.1 2000\r\n\r\n"),
    says: /does not respond like an HTTP proxy$/,
  },
  {
    what: "a proxy that wants TLS",
    does: (socket) => socket.end(Uint8Array.of(0x15, 3, 3, 0, 2, 2, 70)),
    says: /the proxy requires TLS/,
    attempts: 1,
  },
  {
    what: "a proxy that closes at once",
    does: (socket) => socket.end(),
    says: /the proxy closed the connection without a response/,
  },
  {
    what: "a proxy that resets",
    does: (socket) => socket.resetAndDestroy(),
    says: /the proxy closed the connection without a response/,
  },
  {
    what: "half a response",
    does: say("HTTP/1.1 200 OK\r\nx: y\r\n"),
    says: /the proxy closed the connection without a response/,
  },
  {
    what: "half a response",
    does: say("HTTP/1.1 200 OK\r\nx: y\r\n"),
    says: /the proxy closed the connection without a response/,
  },
  {
    what: "a response that does not end",
    does: (socket) =>
      void socket.write(`HTTP/1.1 200 OK\r\n${"x: yyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(2000)}`),
    says: /more than 16 KiB of header fields/,
  },
  {
    what: "a proxy that says nothing",
    does: () => {},
    options: () => ({ attemptTimeout: "800ms", connectTimeout: "1s" }),
    says: /accepted the connection, but opened no tunnel within 800 ms/,
  },
  {
    what: "a proxy that says to wait, for ever",
    does: (socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 100 Continue\r\n\r\n"), 5);
      socket.on("close", () => clearInterval(timer));
    },
    options: () => ({ attemptTimeout: "800ms", connectTimeout: "1s" }),
    says: /opened no tunnel within 800 ms/,
  },
  {
    what: "a tunnel without a server",
    does: (socket) => socket.write(ESTABLISHED),
    options: () => ({ attemptTimeout: "800ms", connectTimeout: "1s" }),
    says: /through the proxy .*did not respond like a gRPC server within 800 ms/,
  },
  {
    what: "a tunnel without a server, without TLS",
    does: (socket) => socket.write(ESTABLISHED),
    options: () => ({ attemptTimeout: "800ms", connectTimeout: "1s" }),
    tls: true,
    says: /through the proxy .*did not finish the TLS handshake within 800 ms/,
  },
  {
    what: "rubbish in the tunnel",
    does: say(`${ESTABLISHED}<html>hello, not a cluster</html>`),
    says: /not a gRPC server/,
  },
  {
    what: "rubbish in the tunnel, in TLS",
    does: say(`${ESTABLISHED}<html>hello</html>`),
    tls: true,
    says: /the server does not support TLS; .*\(or the proxy sent other data\)/,
  },
  {
    what: "a tunnel that ends",
    does: say(ESTABLISHED),
    says: /the server closed the connection immediately/,
  },
  {
    what: "a tunnel that ends in TLS",
    does: say(ESTABLISHED),
    tls: true,
    says: /the server closed the connection during the TLS handshake/,
  },
];

async function isTold({ does, says, options, asks, tls, attempts }: Wrong): Promise<void> {
  const own = await ConnectProxy.start();
  own.misdeed = (socket) => {
    socket.resume();
    does(socket);
  };
  try {
    const wrong: ConnectOptions = {
      address: at("plain"),
      proxy: { type: "http-connect", targetHost: own.address, ...(asks && { basicAuth }) },
      tls: tls ?? false,
      connectTimeout: "30s",
      ...options?.(),
    };
    await assert.rejects(Connection.connect(wrong), (error: ServiceError) => {
      assert.ok(error instanceof ServiceError, String(error));
      assert.equal(error.code, Code.UNAVAILABLE);
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /\n|\.\.\/deps/);
      const everything = inspect(error, { depth: 9, showHidden: true });
      assert.ok(!everything.includes(SECRET) && !everything.includes("s3cr3t"), everything);
      assert.ok(!everything.includes(Buffer.from(`ada:${SECRET}`).toString("base64")), everything);
      return true;
    });
    if (attempts !== undefined) {
      assert.equal(own.heads.length, attempts, "nothing that another attempt would fix");
    }
    await until("nothing is left open", () => own.open === 0);
    await untilAtRest();
  } finally {
    await own.stop();
  }
}
together(
  Object.fromEntries(WRONG.map((wrong) => [`${wrong.what} is reported`, () => isTold(wrong)])),
);

test("a port without a proxy, and an unknown host name", async () => {
  const { address } = proxy;
  await proxy.stop();
  const connecting = (targetHost: string) =>
    Connection.connect({
      address: at("plain"),
      proxy: { targetHost, basicAuth },
      connectTimeout: "1s",
    });
  await assert.rejects(
    connecting(address),
    /through the proxy 127\.0\.0\.1:\d+: no proxy listens on this address \(connect ECONNREFUSED/,
  );
  await assert.rejects(
    connecting("proxy.invalid:3128"),
    /unknown host name of the proxy|no connection to the proxy within/,
  );
  proxy = await ConnectProxy.start();
});

test("connecting can be canceled, and a lazy connection closed, while the proxy does not respond", async () => {
  proxy.misdeed = (socket) => void socket.resume();
  const abort = new AbortController();
  const connecting = Connection.connect({
    address: at("plain"),
    proxy: by(),
    signal: abort.signal,
  });
  await until("the proxy is asked", () => proxy.heads.length === 1);
  abort.abort(new Error("enough"));
  await assert.rejects(connecting, /enough/);
  const lazy = Connection.lazy({ address: at("plain"), proxy: by() });
  const calling = lazy.call("getSystemInfo", new Uint8Array(0));
  await until("the proxy is asked again", () => proxy.heads.length === 2);
  await lazy.close();
  await assert.rejects(calling, /closed/);
  await until("nothing is left open", () => proxy.open === 0);
});

test("invalid options are rejected without quoting their values", () => {
  const refused = (proxy: unknown, says: RegExp, address = "x:1") =>
    assert.throws(() => Connection.lazy({ address, proxy } as never), (error: Error) => {
      assert.ok(error instanceof TypeError, String(error));
      assert.match(error.message, says);
      assert.doesNotMatch(error.message, /s3cr3t/);
      return true;
    });
  const targetHost = "proxy:3128";
  refused(
    "proxy:3128",
    /proxy must be an object such as \{ targetHost: "host:port" \}, not string/,
  );
  refused(null, /proxy must be an object/);
  refused({}, /proxy\.targetHost must be "host:port" or "http:\/\/host:port", not undefined/);
  refused({ targetHost, type: "socks5" }, /proxy\.type must be "http-connect"/);
  refused(
    { targetHost, auth: "s3cr3t" },
    /proxy\.auth is not an option of a proxy; known options: type, targetHost, basicAuth/,
  );
  refused({ targetHost: "http://ada:s3cr3t@proxy:3128" }, /set them in proxy\.basicAuth/);
  refused(
    { targetHost: "https://proxy:3128" },
    /not a proxy of "https": the connection to the proxy uses plain HTTP/,
  );
  for (
    const wrong of [
      "proxy",
      "proxy:",
      ":3128",
      "proxy:0",
      "proxy:99999",
      "http://proxy:1/path",
      "a b:1",
      "proxy:1\r\nx: y",
    ]
  ) {
    refused({ targetHost: wrong }, /proxy\.targetHost must be "host:port"/);
  }
  refused(
    { targetHost, basicAuth: "ada:s3cr3t" },
    /proxy\.basicAuth must be \{ username, password \}, not string/,
  );
  refused(
    { targetHost, basicAuth: { username: "ada" } },
    /proxy\.basicAuth\.password must be a string, not undefined/,
  );
  refused(
    { targetHost, basicAuth: { username: "a:da", password: "s3cr3t" } },
    /username has a colon/,
  );
  refused({ targetHost, basicAuth: { username: "", password: "s3cr3t" } }, /username is empty/);
  refused(
    { targetHost, basicAuth: { username: "ada", password: "s3cr3t\n" } },
    /line break at the end/,
  );
  refused(
    { targetHost, basicAuth: { user: "ada", username: "ada", password: "s3cr3t" } },
    /basicAuth\.user is not an option/,
  );
  refused({ targetHost }, /a local socket, which cannot be reached through a proxy/, "unix:/tmp/x");
  Connection.lazy({ address: "[::1]:7233", proxy: { targetHost: "[::1]:3128" } });
  Connection.lazy({ address: "x:1", proxy: undefined });
});

test("HTTPS_PROXY and NO_PROXY", () => {
  const of = (address: string, env: { [name: string]: string }) =>
    proxyFromEnvironment(address, env);
  const all = { HTTPS_PROXY: "http://proxy.example:3128" };
  const found = { type: "http-connect", targetHost: "proxy.example:3128" };
  assert.deepEqual(of("x.example:7233", all), found);
  assert.deepEqual(of("x.example:7233", { https_proxy: "proxy.example:3128" }), found);
  assert.deepEqual(of("x.example:7233", { HTTPS_PROXY: "http://proxy.example" }), {
    ...found,
    targetHost: "proxy.example:80",
  });
  assert.deepEqual(of("x.example:7233", { HTTPS_PROXY: "http://a%40b:c%3Ad@[::1]:1/" }), {
    type: "http-connect",
    targetHost: "[::1]:1",
    basicAuth: { username: "a@b", password: "c:d" },
  });
  assert.equal(of("x.example:7233", { HTTPS_PROXY: "" }), undefined);
  assert.equal(of("x.example:7233", { HTTP_PROXY: "http://proxy.example:3128" }), undefined);
  for (const address of ["localhost:1", "127.0.0.9:1", "[::1]:1", "unix:/tmp/x"]) {
    assert.equal(of(address, all), undefined, address);
  }
  const excepted: [string, string, boolean][] = [
    ["*", "x.example:1", true],
    ["x.example", "x.example:1", true],
    ["example", "x.example:1", true],
    [".example", "x.example:1", true],
    ["*.example", "x.example:1", true],
    [".x.example", "x.example:1", false],
    ["ample", "x.example:1", false],
    ["a.b, X.Example:1", "x.example:1", true],
    ["x.example:2", "x.example:1", false],
    ["10.0.0.0/8", "10.1.2.3:1", true],
    ["10.0.0.0/8", "11.1.2.3:1", false],
    ["10.0.0.0/99", "10.1.2.3:1", false],
    ["10.1.2.3", "10.1.2.3:1", true],
    ["10.1.2.3:2", "10.1.2.3:1", false],
    ["fd00::/8", "[fd00::1]:1", true],
    ["fd00::1", "[fd00::1]:1", true],
    ["[fd00::1]:1", "[fd00::1]:1", true],
    ["0.0.0.0/0", "[fd00::1]:1", false],
    ["", "x.example:1", false],
  ];
  for (const [exceptions, address, is] of excepted) {
    assert.equal(
      of(address, { ...all, NO_PROXY: exceptions }) === undefined,
      is,
      `${exceptions} and ${address}`,
    );
    assert.equal(of(address, { ...all, no_proxy: exceptions }) === undefined, is);
  }
  const refused = (HTTPS_PROXY: string, says: RegExp) =>
    assert.throws(() => of("x:1", { HTTPS_PROXY }), (error: Error) => {
      assert.match(error.message, says);
      assert.doesNotMatch(inspect(error), /s3cr3t/);
      return true;
    });
  refused("https://ada:s3cr3t@proxy:1", /names a proxy of "https"; only "http" is supported/);
  refused("socks5://proxy:1", /"socks5"/);
  refused("http://ada:s3cr3t%@proxy:1", /not percent-encoded/);
  refused("http://ada:s3cr3t@proxy:99999", /is not a proxy address/);
  refused("http://proxy:1/path", /is not a proxy address/);
});
