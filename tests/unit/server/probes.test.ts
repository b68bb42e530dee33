// Probes and metrics of a worker over HTTP: the response in each state, which callers are accepted,
// and invalid addresses.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { test } from "node:test";
import { MetricsRegistry } from "../../../ts/metrics/mod.ts";
import { type Probes, serveProbes } from "../../../ts/grpc/mod.ts";
import { parseListen } from "../../../ts/server/probes.ts";

const place = (probes: Probes) => {
  const at = probes.address.lastIndexOf(":");
  return {
    host: probes.address.slice(0, at).replace(/[[\]]/g, ""),
    port: Number(probes.address.slice(at + 1)),
  };
};

/** Sends these lines as they are; the whole answer. */
function raw(probes: Probes, lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(place(probes), () => socket.write(`${lines.join("\r\n")}\r\n\r\n`));
    let text = "";
    socket.setEncoding("utf8").on("data", (part: string) => text += part);
    socket.on("end", () => resolve(text));
    // Deno cuts off who sends too much.
    socket.on(
      "error",
      (error: Error & { code?: string }) =>
        error.code === "ECONNRESET" ? resolve(text) : reject(error),
    );
  });
}

async function get(
  probes: Probes,
  path: string,
  headers: { [name: string]: string } = {},
  method = "GET",
) {
  const all = { host: probes.address, connection: "close", ...headers };
  const text = await raw(probes, [
    `${method} ${path} HTTP/1.1`,
    ...Object.entries(all).map(([name, value]) => `${name}: ${value}`),
  ]);
  return {
    status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]),
    head: text.split("\r\n\r\n")[0]!,
    body: text.split("\r\n\r\n")[1] ?? "",
  };
}

test("metrics that cannot be formatted cause an error response and do not crash the worker", async () => {
  let fails = (): unknown => {
    throw new Error("a gauge failed");
  };
  const worker = { state: "running", ready: true };
  const metrics = { contentType: "text/plain", text: () => fails() as string };
  const probes = await serveProbes({ listen: "0", worker, metrics });
  try {
    const { status, body } = await get(probes, "/metrics");
    assert.equal(status, 500);
    assert.match(body, /a gauge failed/);
    // As registries of others do.
    fails = () => Promise.resolve("later 1");
    assert.equal((await get(probes, "/metrics")).body, "later 1");
    fails = () => Promise.reject(new Error("later, too"));
    assert.equal((await get(probes, "/metrics")).status, 500);
    fails = () => 5;
    assert.equal((await get(probes, "/metrics")).status, 500);
    assert.equal((await get(probes, "/healthz")).status, 200);
  } finally {
    await probes.close();
  }
});

test("probes show the states of a worker and its metrics", async () => {
  const worker = { state: "created", ready: false };
  const metrics = new MetricsRegistry();
  metrics.counter("orders", { kind: "book" }).add();
  const probes = await serveProbes({ listen: "0", worker, metrics });
  try {
    assert.match(probes.address, /^127\.0\.0\.1:\d+$/);
    const seen =
      async () => [(await get(probes, "/healthz")).status, (await get(probes, "/readyz")).status];
    assert.deepEqual(await seen(), [200, 503]);
    assert.match((await get(probes, "/readyz")).body, /not ready: the worker is created/);
    Object.assign(worker, { state: "running", ready: true });
    assert.deepEqual(await seen(), [200, 200]);
    Object.assign(worker, { state: "stopping", ready: false });
    assert.deepEqual(await seen(), [200, 503]);
    worker.state = "stopped";
    assert.deepEqual(await seen(), [503, 503]);
    const { head, body, status } = await get(probes, "/metrics?name=x");
    assert.equal(status, 200);
    assert.match(head, /content-type: text\/plain; version=0\.0\.4/i);
    assert.match(body, /orders\{kind="book"\} 1/);
    assert.equal((await get(probes, "/")).status, 404);
    assert.equal((await get(probes, "/metrics", { "content-length": "0" }, "POST")).status, 405);
    assert.equal((await get(probes, "/healthz", {}, "HEAD")).body, "");
  } finally {
    await probes.close();
  }
  await assert.rejects(get(probes, "/healthz"), /ECONNREFUSED/);
});

test("pages are rejected, by Origin or by host name", async () => {
  const probes = await serveProbes({
    listen: "127.0.0.1:0",
    worker: { state: "running", ready: true },
  });
  const { port } = place(probes);
  try {
    const host = async (name: string) => (await get(probes, "/healthz", { host: name })).status;
    for (
      const name of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`]
    ) {
      assert.equal(await host(name), 200, name);
    }
    for (
      const name of [
        "evil.example",
        `evil.example:${port}`,
        "localhost",
        `localhost:${port + 1}`,
        `localhost.evil.example:${port}`,
        "a b",
        "@",
      ]
    ) {
      assert.ok([400, 403].includes(await host(name)), name);
    }
    assert.equal((await get(probes, "/healthz", { origin: "http://evil.example" })).status, 403);
    assert.equal((await get(probes, "/healthz", { origin: "null" })).status, 403);
    assert.equal((await get(probes, "/healthz", { "sec-fetch-site": "cross-site" })).status, 403);
    assert.doesNotMatch((await get(probes, "/healthz", { host: "evil.example" })).body, /evil/);
    assert.equal((await get(probes, "/metrics")).status, 404, "no metrics are served");
    assert.match(
      await raw(probes, ["GET /healthz HTTP/1.1", `Host: ${"x".repeat(100_000)}`]),
      /^HTTP\/1\.1 4|^$/,
    );
    assert.equal(await host(`localhost:${port}`), 200, "it lives");
  } finally {
    await probes.close();
  }
});

test("on a network address, probes accept addresses and names that a page cannot have", async () => {
  const probes = await serveProbes({
    listen: "0.0.0.0:0",
    worker: { state: "running", ready: true },
  });
  const { port } = place(probes);
  try {
    const host = async (name: string) => (await get(probes, "/healthz", { host: name })).status;
    for (
      const name of [
        `10.1.2.3:${port}`,
        "10.1.2.3",
        "[fe80::1]:80",
        "worker:9464",
        "worker.shop.svc:1",
        "w.shop.svc.cluster.local",
      ]
    ) {
      assert.equal(await host(name), 200, name);
    }
    for (const name of ["evil.example", "worker.evil.com:9464", "1.2.3.4.evil.com"]) {
      assert.equal(await host(name), 403, name);
    }
    assert.equal(
      (await get(probes, "/healthz", { host: "10.1.2.3", origin: "http://10.1.2.3" })).status,
      403,
    );
    await assert.rejects(
      serveProbes({ listen: `0.0.0.0:${port}`, worker: { state: "running", ready: true } }),
      new RegExp(`cannot be served on 0\\.0\\.0\\.0:${port}: the port is in use`),
    );
  } finally {
    await probes.close();
  }
});

test("addresses", () => {
  assert.deepEqual(parseListen("9464"), { host: "127.0.0.1", port: 9464 });
  assert.deepEqual(parseListen("worker-1.example.com:1"), {
    host: "worker-1.example.com",
    port: 1,
  });
  assert.deepEqual(parseListen("[::]:9464"), { host: "::", port: 9464 });
  for (
    const text of [
      "",
      ":",
      "host",
      "host:",
      ":9464",
      "1.2.3.4:65536",
      "::1:9464",
      "http://a:1",
      "a:1/x",
      "a b:1",
      "a:-1",
      "[x]:1",
    ]
  ) {
    assert.throws(() => parseListen(text), /is not a valid address: write host:port/, text);
  }
});
