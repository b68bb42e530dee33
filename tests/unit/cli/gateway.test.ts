// `temporalex gateway` as a process: what it says and what it does not, its token file, what it
// refuses, that it ends in order, and that a client and a worker go through it, to a server and to
// a store that another process has open.
import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { connectGateway } from "../../../ts/gateway/mod.ts";
import { open } from "../../../ts/mod.ts";
import { Worker } from "../../../ts/worker/mod.ts";
import { workflow } from "../../../ts/workflow/mod.ts";
import { socketClass } from "../gateway/support/gateway.ts";
import { freePort } from "../../support/ports.ts";
import { startCommand, type Started } from "./support/process.ts";
import { run } from "./support/run.ts";

const double = workflow("Double", async (n: number) => 2 * n);

async function inFolder(body: (cwd: string) => Promise<void>): Promise<void> {
  const cwd = mkdtempSync(join(tmpdir(), "temporalex-gateway-"));
  try {
    await body(cwd);
  } finally {
    rmSync(cwd, { recursive: true, force: true });
  }
}

const ORIGIN = "http://localhost:5173";
const startAt = (port: number, cwd: string, ...args: string[]) =>
  startCommand(["gateway", "--port", `${port}`, "--json", ...args], cwd);
const start = (cwd: string, ...args: string[]) => startAt(0, cwd, ...args);

test("a client and a worker reach a server through the gateway; a token file keeps the URL stable; Ctrl-C ends it", async () => {
  await inFolder(async (cwd) => {
    const ends: Started[] = [];
    const startAndEnd = (started: Started) => (ends.push(started), started);
    try {
      const server = startAndEnd(startCommand(["dev", "--port", "0", "--json"], cwd));
      const { address } = await server.line("ready", ({ event }) => event === "ready");
      const args = [
        "--address",
        String(address),
        "--allow-origin",
        `${ORIGIN}/`,
        "--token-file",
        "token",
      ];
      const port = await freePort();
      const first = startAndEnd(startAt(port, cwd, ...args));
      const started = await first.line("started", ({ event }) => event === "started");
      const { url, ...more } = started as { url: string };
      assert.deepEqual(more, {
        event: "started",
        address,
        origins: [ORIGIN],
        namespaces: [],
        readOnly: false,
      });
      const token = readFileSync(join(cwd, "token"), "utf8").trim();
      assert.equal(new URL(url).hash, `#${token}`);
      if (process.platform !== "win32") {
        assert.equal(statSync(join(cwd, "token")).mode & 0o777, 0o600);
      }
      const service = await connectGateway(url, socketClass);
      const client = new Client({ service, taskQueue: "q", logger: silentLogger });
      const worker = await Worker.create({
        service,
        taskQueue: "q",
        workflows: [double],
        logger: silentLogger,
      });
      await worker.runUntil(async () => {
        assert.equal(await client.execute(double, { id: "d", args: [21] }), 42);
      });
      await service.close();
      await assert.rejects(
        connectGateway(url.replace(token, "x".repeat(43)), socketClass),
        /rejected the token/,
      );
      assert.equal(await first.end("SIGINT"), 0);
      assert.equal(first.lines.at(-1)?.["event"], "stopped");
      assert.ok(!first.err().includes(token), first.err());
      const second = startAndEnd(startAt(port, cwd, ...args));
      assert.equal(
        (await second.line("started again", ({ event }) => event === "started"))["url"],
        url,
      );
      assert.equal(await second.end("SIGINT"), 0);
      assert.equal(await server.end("SIGINT"), 0);
    } finally {
      await Promise.all(ends.map((started) => started.end("SIGKILL")));
    }
  });
});

test("the gateway serves a store that another process has open, and forwards rejections by the fence", async () => {
  await inFolder(async (cwd) => {
    const app = await open({
      path: join(cwd, "shop.sqlite"),
      workflows: [double],
      logger: silentLogger,
    });
    const all = start(cwd, "--store", "shop.sqlite");
    const fenced = start(cwd, "--store", "shop.sqlite", "--read-only", "-n", "default");
    try {
      const [one, two] = await Promise.all(
        [all, fenced].map((each) => each.line("started", ({ event }) => event === "started")),
      );
      const service = await connectGateway(one!["url"] as string, socketClass);
      const client = new Client({ service, taskQueue: "default", logger: silentLogger });
      assert.equal(await client.execute(double, { id: "d", args: [4] }), 8);
      const reading = await connectGateway(two!["url"] as string, socketClass);
      const reader = new Client({ service: reading, taskQueue: "default", logger: silentLogger });
      assert.equal((await reader.getHandle(double, "d").describe()).status, "COMPLETED");
      await assert.rejects(
        reader.start(double, { id: "e", args: [1] }),
        /startWorkflowExecution is a write, and this gateway is read-only/,
      );
      const stranger = new Client({ service: reading, namespace: "payroll", logger: silentLogger });
      await assert.rejects(
        stranger.getHandle(double, "d").describe(),
        /uses the namespace "payroll", and this gateway serves only "default"/,
      );
      await Promise.all([service.close(), reading.close()]);
      assert.deepEqual(await Promise.all([all.end("SIGINT"), fenced.end("SIGINT")]), [0, 0]);
    } finally {
      await Promise.all([all.end("SIGKILL"), fenced.end("SIGKILL")]);
      await app.close();
    }
  });
});

test("a terminal gets the URL, the allowed callers, and errors while it runs", async () => {
  await inFolder(async (cwd) => {
    const interrupt = new AbortController();
    let err = "";
    const ended = run([
      "gateway",
      "--address",
      "127.0.0.1:1",
      "--port",
      "0",
      "-n",
      "orders",
      "--read-only",
    ], {
      cwd,
      interrupt: interrupt.signal,
      err: (text) => {
        err += text;
        if (/does not answer yet/.test(err)) interrupt.abort(new Error("enough"));
      },
    });
    const { out, code } = await ended;
    assert.equal(code, 0, err);
    assert.match(out, /^gateway to +127\.0\.0\.1:1\nurl +http:\/\/127\.0\.0\.1:\d+\/#[\w-]{43}\n/);
    assert.match(
      out,
      /pages +none; let one in with --allow-origin http:\/\/localhost:5173\nnamespaces +orders\nread only +yes\nstopped\n$/,
    );
    assert.match(
      err,
      /warning: 127\.0\.0\.1:1 does not answer yet \(.*ECONNREFUSED.*\); calls are passed on to it as they come/,
    );
  });
});

test("an error in the command line is reported before anything listens", async () => {
  await inFolder(async (cwd) => {
    const refused = async (...args: string[]) => {
      const { code, err, out } = await run(["gateway", ...args], { cwd });
      assert.equal(out, "");
      return `${code} ${err}`;
    };
    const to = ["--address", "127.0.0.1:1"];
    assert.match(
      await refused(),
      /^2 .*where do calls go\? Name a cluster with --address host:port or --profile, or a store with --store/,
    );
    assert.match(await refused(...to, "--store", "x"), /^2 .*cannot be used together/);
    assert.match(
      await refused(...to, "--allow-origin", "*"),
      /^2 .*--allow-origin: "\*" would allow pages of every site/,
    );
    assert.match(
      await refused(...to, "--allow-origin", "localhost:5173"),
      /^2 .*is not an origin; write scheme, host and port/,
    );
    assert.match(
      await refused(...to, "--port", "70000"),
      /^2 .*a port is a number from 0 to 65535/,
    );
    assert.match(await refused("--address", "not an address"), /^2 .*is not an address/);
    assert.match(
      await refused(...to, "--token-file", "missing/token"),
      /^1 .*the token file cannot be made: .*ENOENT/,
    );
    assert.match(await refused(...to, "--token-file", "."), /^1 .*is not a file|^1 .*EISDIR/);
    writeFileSync(join(cwd, "short"), "hello\n", { mode: 0o600 });
    assert.match(
      await refused(...to, "--token-file", "short"),
      /^1 .*holds no token: 32 to 256 characters/,
    );
    assert.equal(readFileSync(join(cwd, "short"), "utf8"), "hello\n");
    if (process.platform !== "win32") {
      writeFileSync(join(cwd, "open"), `${"x".repeat(40)}\n`);
      chmodSync(join(cwd, "open"), 0o644);
      assert.match(
        await refused(...to, "--token-file", "open"),
        /^1 .*others may read the token file .*chmod 600/,
      );
    }
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as { port: number };
    assert.match(
      await refused(...to, "--port", String(port)),
      new RegExp(
        `^1 .*port ${port} is in use; stop the other process, or choose another port with --port`,
      ),
    );
    await new Promise((resolve) => taken.close(resolve));
    assert.ok(!existsSync(join(cwd, "token")));
  });
});
