// `temporalex worker` on a cluster: its output before the cluster has responded, and that it prints
// "working" only afterwards.
// takes: 4 s
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { Code, ServiceError } from "../../../ts/service/raw.ts";
import { serviceHandler } from "../../../ts/server/grpc_handlers.ts";
import { ScriptedService, waits } from "../../support/scripted_service.ts";
import { until } from "../../support/until.ts";
import { Servers } from "../grpc/support/servers.ts";
import { startCommand } from "./support/process.ts";
import { refusals, run } from "./support/run.ts";

const folder = mkdtempSync(join(tmpdir(), "temporalex-cli-worker-cluster-"));
after(() => rmSync(folder, { recursive: true, force: true }));
writeFileSync(
  join(folder, "workflows.ts"),
  'import { workflow } from "temporalex/workflow";\nexport const quick = workflow("Quick", async () => 1);\n',
);
writeFileSync(join(folder, "broken.ts"), 'import "node:fs";\n');

const worker = (
  address: string,
  ...more: string[]
) => ["worker", "--address", address, "--workflows", "workflows.ts", ...more];
const refused = refusals((args) => run(args, { cwd: folder }));

/** A cluster with this namespace alone, whose polls wait. */
const cluster = (namespace: string) =>
  new ScriptedService()
    .on("describeNamespace", (request) => {
      if (request.namespace === namespace) return {};
      throw new ServiceError(
        Code.NOT_FOUND,
        `Namespace ${request.namespace} is not found.`,
        "NamespaceNotFound",
      );
    })
    .on("pollWorkflowTaskQueue", (_, options) => waits(options))
    .on("shutdownWorker", () => ({}));

test("an address without a response is reported at once; `started` follows the first response of the cluster", async () => {
  const socket = join(folder, "cluster.sock");
  const address = `unix:${socket}`;
  const started = startCommand(worker(address, "--json"), folder);
  const servers = new Servers();
  try {
    const { why, ...waiting } = await started.line(
      "waiting",
      ({ event, why }) => event === "waiting" && why !== undefined,
    );
    assert.deepEqual(waiting, { event: "waiting", address, namespace: "default" });
    assert.match(String(why), /^the socket does not exist \(/);
    const service = cluster("default");
    await servers.serve("cluster", createServer(serviceHandler(service)), socket);
    const line = await started.line("started", ({ event }) => event === "started");
    assert.deepEqual([line["address"], line["namespace"], line["workflowTypes"]], [
      address,
      "default",
      ["Quick"],
    ]);
    assert.deepEqual(
      started.lines.map(({ event }) => event).filter((event) => event !== "waiting"),
      ["started"],
    );
    assert.equal(service.calls[0]!.method, "describeNamespace");
    // It has left; that it is here may take a moment.
    await until("its first poll", () => service.requests("pollWorkflowTaskQueue").length > 0);
    assert.equal(await started.end("SIGINT"), 0, started.err());
  } finally {
    await started.end("SIGKILL");
    await servers.close();
  }
});

test("text output shows what the worker waits for and why; Ctrl-C ends the wait with exit code 0", async () => {
  const address = "127.0.0.1:1";
  const stop = new AbortController();
  let out = "";
  const { code } = await run(worker(address, "--namespace", "shop"), {
    cwd: folder,
    interrupt: stop.signal,
    out: (text) => {
      out += text;
      if (out.includes("no server listens on this address")) stop.abort();
    },
  });
  assert.equal(code, 0);
  assert.match(
    out,
    /^waiting for the Temporal cluster at 127\.0\.0\.1:1, namespace "shop".*; Ctrl-C ends\n/,
  );
  assert.match(out, /\nstopped\n$/);
  assert.doesNotMatch(out, /working on/);
});

test("waiting for a cluster that does not respond is reported", async () => {
  const servers = new Servers();
  await servers.serve(
    "silent",
    createServer(serviceHandler(new ScriptedService().on("describeNamespace", (_, o) => waits(o)))),
  );
  const stop = new AbortController();
  let out = "";
  try {
    const { code } = await run(worker(servers.at("silent")), {
      cwd: folder,
      interrupt: stop.signal,
      out: (text) => {
        out += text;
        stop.abort();
      },
    });
    assert.equal(code, 0);
    assert.match(
      out,
      /^waiting for the Temporal cluster at 127\.0\.0\.1:\d+, namespace "default"; Ctrl-C ends\nstopped\n$/,
    );
  } finally {
    await servers.close();
  }
});

test("a deployment version is reported with its pending state; its errors name the options", async () => {
  const servers = new Servers();
  await servers.serve(
    "cluster",
    createServer(serviceHandler(cluster("default").on("getSystemInfo", () => ({})))),
  );
  const version = ["--deployment", "shop.v7", "--versioning-behavior", "PINNED"];
  const started = async (...more: string[]) => {
    const stop = new AbortController();
    let out = "";
    const { code, err } = await run(worker(servers.at("cluster"), ...more), {
      cwd: folder,
      interrupt: stop.signal,
      out: (text) => {
        out += text;
        if (/working on|"started"/.test(out)) stop.abort();
      },
    });
    assert.equal(code, 0, err);
    return out;
  };
  try {
    assert.match(
      await started(...version),
      /^ {2}version: {4}v7 of deployment shop; it gets tasks once it is current or ramping \(temporal worker deployment set-current-version\)$/m,
    );
    assert.match(await started(...version, "--json"), /"event":"started".*"deployment":"shop\.v7"/);
    await refused(
      2,
      /with --deployment each workflow is "PINNED" or "AUTO_UPGRADE": set the versioningBehavior of Quick, or the worker --versioning-behavior$/m,
      ...worker(servers.at("cluster"), "--deployment", "shop.v7"),
    );
  } finally {
    await servers.close();
  }
});

test("permanent errors end the worker: a missing namespace, a server without TLS, modules that do not load", async () => {
  const servers = new Servers();
  await servers.serve("cluster", createServer(serviceHandler(cluster("shop"))));
  const at = servers.at("cluster");
  try {
    await refused(
      1,
      /the Temporal cluster at 127\.0\.0\.1:\d+ has no namespace "default", or does not show/,
      ...worker(at),
    );
    await refused(1, /does not support TLS; omit --tls/, ...worker(at, "--tls"));
    await refused(
      2,
      /broken\.ts:1: .*node:fs/,
      "worker",
      "--address",
      "127.0.0.1:1",
      "--workflows",
      "broken.ts",
    );
  } finally {
    await servers.close();
  }
});
