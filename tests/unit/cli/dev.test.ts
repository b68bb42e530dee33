// `temporalex dev` as a process: what it says, what it refuses, that it ends in order, and that
// files outlive it.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { GrpcService } from "../../../ts/grpc/grpc_service.ts";
import { typedService } from "../../../ts/service/typed.ts";
import { run } from "./support/run.ts";
import { startCommand } from "./support/process.ts";

const folder = () => mkdtempSync(join(tmpdir(), "temporalex-dev-"));

async function withClient<T>(
  address: unknown,
  body: (client: Client) => Promise<T>,
  namespace = "default",
): Promise<T> {
  const service = new GrpcService({ address: address as string });
  try {
    return await body(new Client({ service, namespace, taskQueue: "q", logger: silentLogger }));
  } finally {
    service.close();
  }
}

test("the first line contains the address; Ctrl-C ends the command; the next start and other commands find its files", async () => {
  const cwd = folder();
  const args = [
    "dev",
    "--port",
    "0",
    "--http-port",
    "0",
    "--db-filename",
    "dev.sqlite",
    "-n",
    "orders",
    "--json",
  ];
  const first = startCommand(args, cwd);
  try {
    const ready = await first.line("ready", ({ event }) => event === "ready");
    assert.deepEqual(ready["namespaces"], ["default", "orders"]);
    assert.equal(ready["store"], join(cwd, "dev.sqlite"));
    const info = await fetch(
      `${ready["httpAddress"]}/temporal.api.workflowservice.v1.WorkflowService/GetSystemInfo`,
      {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      },
    );
    assert.ok((await info.json()).serverVersion);
    await withClient(ready["address"], (client) => client.start("Work", { id: "kept" }));
    await withClient(ready["address"], (client) => client.start("Work", { id: "order" }), "orders");
    // Commands that use the store next to it go through this process.
    const listed = await run([
      "workflow",
      "list",
      "--store",
      join(cwd, "dev.orders.sqlite"),
      "-n",
      "orders",
      "--json",
    ]);
    assert.deepEqual(
      JSON.parse(listed.out).map((each: { workflowId: string }) => each.workflowId),
      ["order"],
      listed.err,
    );
    assert.equal(await first.end("SIGINT"), 0);
    assert.equal(first.lines.at(-1)?.["event"], "stopped");
    assert.ok(!existsSync(join(cwd, "dev.sqlite-socket")));
    const second = startCommand(["dev", "-p", "0", "-f", "dev.sqlite", "--json"], cwd);
    try {
      const again = await second.line("ready", ({ event }) => event === "ready");
      const status = await withClient(
        again["address"],
        async (client) => (await client.getHandle("Work", "kept").describe()).status,
      );
      assert.equal(status, "RUNNING");
      assert.equal(await second.end("SIGINT"), 0, second.err());
    } finally {
      await second.end("SIGKILL");
    }
  } finally {
    await first.end("SIGKILL");
    rmSync(cwd, { recursive: true, force: true });
  }
});

test("registered namespaces outlive the server, with their options; deleted ones are gone with their files", async () => {
  const cwd = folder();
  const args = ["dev", "--port", "0", "--db-filename", "dev.sqlite", "--json"];
  const list = join(cwd, "dev.sqlite-namespaces.json");
  const call = (address: unknown, path: string, name: string, more: readonly number[] = []) => {
    const service = new GrpcService({ address: address as string });
    const bytes = [10, name.length, ...new TextEncoder().encode(name), ...more];
    return service.callOther(`/temporal.api.${path}`, new Uint8Array(bytes))
      .finally(() => service.close());
  };
  const described = async (address: unknown) => {
    const service = new GrpcService({ address: address as string });
    try {
      return await typedService(service).describeNamespace({ namespace: "late" });
    } finally {
      service.close();
    }
  };
  const first = startCommand(args, cwd);
  try {
    const { address } = await first.line("ready", ({ event }) => event === "ready");
    // A retention of 90 s, and a description.
    const more = [34, 2, 8, 90, 18, 1, 120];
    await call(address, "workflowservice.v1.WorkflowService/RegisterNamespace", "late", more);
    await call(address, "workflowservice.v1.WorkflowService/RegisterNamespace", "gone", more);
    await withClient(address, (client) => client.start("Work", { id: "kept" }), "late");
    await withClient(address, (client) => client.start("Work", { id: "lost" }), "gone");
    assert.ok(existsSync(join(cwd, "dev.gone.sqlite")));
    await call(address, "operatorservice.v1.OperatorService/DeleteNamespace", "gone");
    assert.deepEqual(
      readdirSync(cwd).filter((name) => name.includes("gone")),
      [],
      "no file of a deleted namespace is left",
    );
    // The server is not asked to end in order: what it acknowledged is kept.
    await first.end("SIGKILL");
    const second = startCommand(args, cwd);
    try {
      const again = await second.line("ready", ({ event }) => event === "ready");
      assert.deepEqual(again["namespaces"], ["default", "late"]);
      const { namespaceInfo, config } = await described(again["address"]);
      assert.equal(namespaceInfo?.description, "x");
      assert.equal(config?.workflowExecutionRetentionTtl?.seconds, 90n);
      assert.equal(
        await withClient(again["address"], (client) => client.count(), "late"),
        1,
      );
      assert.equal(await second.end("SIGINT"), 0, second.err());
    } finally {
      await second.end("SIGKILL");
    }
    for (
      const [text, reason] of [
        ["{", /not a list of namespaces/],
        ['{"namespaces":[{"name":"a/b"}]}', /invalid namespace "a\/b"/],
        [
          '{"namespaces":[{"name":"a","retentionMs":"1d"}]}',
          /namespaces\[0\]\.retentionMs must be/,
        ],
        ['{"namespaces":[{"name":"a","data":{"k":1}}]}', /namespaces\[0\]\.data must be/],
      ] as const
    ) {
      writeFileSync(list, text);
      const { code, err } = await run(args.slice(0, -1), { cwd });
      assert.deepEqual([code, reason.test(err), err.includes(list)], [1, true, true], err);
    }
  } finally {
    await first.end("SIGKILL");
    rmSync(cwd, { recursive: true, force: true });
  }
});

test("a terminal shows the next steps; in memory no file is written", async () => {
  const ended = new AbortController();
  const lines: string[] = [];
  const cwd = folder();
  const result = await run(["dev", "--port", "0", "--retention", "1d"], {
    cwd,
    interrupt: ended.signal,
    out: (text) => {
      lines.push(text);
      ended.abort();
    },
  });
  const text = lines.join("");
  assert.equal(result.code, 0);
  assert.match(text, /serves Temporal's API on 127\.0\.0\.1:\d+/);
  assert.match(text, /in memory.*--db-filename/);
  assert.match(text, /temporal workflow list --address 127\.0\.0\.1:\d+/);
  assert.match(text, /stopped\n$/);
  rmSync(cwd, { recursive: true, force: true });
});

test("a port in use is reported with its option", async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
  const { port } = taken.address() as { port: number };
  const grpc = await run(["dev", "--port", String(port)]);
  assert.deepEqual([grpc.code, grpc.out], [1, ""]);
  assert.match(grpc.err, new RegExp(`port ${port} is taken.* another port with --port \\(`));
  const http = await run(["dev", "--port", "0", "--http-port", String(port)]);
  assert.match(http.err, new RegExp(`port ${port} is taken.* with --http-port`));
  taken.close();
});

test("wrong usage is rejected before anything is opened", async () => {
  for (
    const [args, words] of [
      [["--port", "99999"], /--port must be a port from 0 to 65535, not 99999/],
      [["--port", "7233", "--http-port", "7233"], /are both 7233/],
      [["--namespace", "a/b"], /invalid namespace "a\/b"/],
      [["--origin", "http://localhost:5173"], /--http-port/],
      [["--http-port", "0", "--origin", "*"], /every site/],
      [["--log-level", "loud"], /debug/],
      [["--ip", "0.0.0.0"], /--ip/],
    ] as const
  ) {
    const { code, err } = await run(["dev", ...args]);
    assert.equal(code, 2, args.join(" "));
    assert.match(err, words);
  }
  const missing = await run(["dev", "--port", "0", "--db-filename", "/nowhere/at/all.sqlite"]);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /nowhere/);
});
