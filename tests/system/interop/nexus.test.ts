// runtime: node
// Handlers of Nexus operations in a worker of temporalex/compat/worker, called by workflows on
// Temporal's own worker. The judge is the same service on the official worker: what a caller sees
// of each operation is equal, and so are links, callbacks and tokens.
// takes: 60 s
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as common from "../../../ts/compat/common/mod.ts";
import * as temporal from "../../../ts/compat/nexus/mod.ts";
import {
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from "../../../ts/compat/worker/mod.ts";
import { TestWorkflowEnvironment } from "../../../ts/compat/testing/mod.ts";
import { silentLogger } from "../../../ts/base/logger.ts";
import { nexusServices } from "../../../ts/compat/worker/native_nexus.ts";
import { Connection } from "../../../ts/grpc/mod.ts";
import { Worker as NativeWorker } from "../../../ts/worker/mod.ts";
import { until } from "../../support/until.ts";
import { DevServer, noServer, temporalCli } from "./support/dev_server.ts";
import { noOfficial, official, officialProgram, root } from "./support/official.ts";

const skip = noServer || noOfficial;
// deno-lint-ignore no-explicit-any
type Any = any;

let server: DevServer,
  client: Any,
  connection: Any,
  ours: NativeConnection,
  services: Any,
  nexus: Any;
/** What handlers note, and what our worker logs. */
const noted: string[] = [];
let stopOfficial: () => Promise<unknown>;

function endpoint(name: string): void {
  const target = ["--target-namespace", "default", "--target-task-queue", name];
  const args = [
    "operator",
    "nexus",
    "endpoint",
    "create",
    "--address",
    server.address,
    "--name",
    name,
    ...target,
  ];
  execFileSync(temporalCli()!, args, { stdio: "ignore" });
}

async function officialWorker(): Promise<() => Promise<unknown>> {
  const child = spawn(process.execPath, [
    officialProgram("nexus_worker.mjs"),
    server.address,
    "callers",
    "theirs",
  ], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", () => reject(new Error("the official worker ended")));
  });
  return () => {
    process.off("exit", kill);
    child.kill("SIGTERM");
    return ended;
  };
}

before(async () => {
  if (skip !== false) return;
  server = await DevServer.start();
  Runtime.install({
    logger: new DefaultLogger(
      "ERROR",
      ({ message, meta }) => noted.push(`${message} ${meta?.["error"]}`),
    ),
  });
  // One with endpoints that fail on purpose: a server stops to call an endpoint that fails too
  // often in a row.
  for (
    const name of [
      "theirs",
      "ours",
      "ours-quiet",
      "ours-stopping",
      "ours-many",
      "program",
      "native",
      "watched",
    ]
  ) {
    endpoint(name);
  }
  const { Connection, Client } = official("@temporalio/client");
  connection = await Connection.connect({ address: server.address });
  client = new Client({ connection });
  nexus = official("nexus-rpc");
  ({ services } = await import(pathToFileURL(officialProgram("nexus_service.mjs")).href) as Any);
  [stopOfficial, ours] = await Promise.all([
    officialWorker(),
    NativeConnection.connect({ address: server.address }),
  ]);
}, { timeout: 120_000 });

after(async () => {
  await stopOfficial?.();
  await connection?.close();
  await ours?.close();
  await server?.stop();
  await Runtime._instance?.shutdown();
});

const worker = (taskQueue: string, more: Partial<WorkerOptions> = {}) =>
  Worker.create({
    ...{
      connection: ours,
      taskQueue,
      nexusServices: services(nexus, temporal, common, (line: string) => noted.push(line)),
    },
    ...more,
  });

test(
  "a test environment creates and removes endpoints, and rejects like the server",
  { skip },
  async () => {
    const env = await TestWorkflowEnvironment.createFromExistingServer({ address: server.address });
    const list = () =>
      execFileSync(temporalCli()!, [
        "operator",
        "nexus",
        "endpoint",
        "list",
        "--address",
        server.address,
        "-o",
        "json",
      ], {
        encoding: "utf8",
      });
    const { id, version, raw } = await env.createNexusEndpoint("made-here", "made-queue");
    assert.deepEqual([typeof id, String(version)], ["string", "1"]);
    const spec = {
      name: "made-here",
      target: { worker: { namespace: "default", taskQueue: "made-queue" } },
    };
    // As with the official package, fields that are not set are read through the prototype.
    assert.deepEqual(JSON.parse(JSON.stringify((raw as Any).spec)), spec);
    const listed = JSON.parse(list()).find((each: Any) => each.id === id);
    assert.deepEqual(listed.spec, spec);
    assert.equal(listed.urlPrefix, (raw as Any).urlPrefix);
    // What the official environment throws is grpc-js's: a code and the server's words.
    const refused = (code: number) => (error: Error & { code?: number; details?: string }) =>
      error.code === code && !!error.details;
    await assert.rejects(env.createNexusEndpoint("made-here", "other"), refused(6));
    await assert.rejects(env.deleteNexusEndpoint({ id: randomUUID(), version: 1 }), refused(5));
    await env.deleteNexusEndpoint({ id, version });
    assert.ok(!list().includes(id));
    await env.teardown();
  },
);

let started = 0;
/** What a workflow sees that calls an operation; its own id. */
async function call(
  args: { endpoint: string; operation: string; input: Any; [more: string]: Any },
  by = client,
): Promise<Any> {
  const workflowId = `caller-${args.endpoint}-${args.operation}-${started++}`;
  const options = {
    taskQueue: "callers",
    workflowId,
    workflowExecutionTimeout: "60s",
    args: [args],
  };
  return { workflowId, ...await by.workflow.execute("call", options) };
}

type Case = readonly [operation: string, input: Any, more?: Any];

/** Text of what a caller saw, without what differs from run to run. */
function plain(value: unknown, at: string): string {
  const ids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}/g;
  return JSON.stringify(value).replaceAll(/caller-[a-z]+-[a-z]+-\d+/g, "CALLER").replaceAll(
    at,
    "ENDPOINT",
  ).replaceAll(ids, "ID");
}

/**
 * Links of the caller's events, and of the workflow behind the operation with the headers of its
 * callbacks.
 */
async function traces(workflowId: string, backing: string | undefined): Promise<unknown> {
  const linked = async (id: string) => {
    const { events } = await client.workflow.getHandle(id).fetchHistory().catch(() => ({
      events: [],
    }));
    return events.map((
      { eventType, links, workflowExecutionStartedEventAttributes: start }: Any,
    ) => ({
      eventType,
      links: links ?? [],
      callbacks: (start?.completionCallbacks ?? []).map(({ nexus }: Any) => [
        ...[
          Object.keys(nexus.header).sort(),
          Buffer.from(nexus.header["nexus-operation-token"], "base64url").toString(),
        ],
      ]),
    })).filter(({ links, callbacks }: Any) => links.length > 0 || callbacks.length > 0);
  };
  return {
    caller: await linked(workflowId),
    backing: backing === undefined ? [] : await linked(backing),
  };
}

async function seenAt(at: string, [operation, input, more]: Case): Promise<string> {
  const named = JSON.parse(JSON.stringify(input).replaceAll("@", at));
  const { workflowId, ...seen } = await call({ endpoint: at, operation, input: named, ...more });
  const token = seen.token ? Buffer.from(seen.token, "base64url").toString() : seen.token;
  return plain({ ...seen, token, traces: await traces(workflowId, named.workflowId) }, at);
}

/** Both workers, one case after the other: failures in a row open the server's circuit breaker. */
async function compared(cases: readonly Case[]): Promise<string[]> {
  const seen: string[] = [];
  const one = async (at: string) => {
    const found: string[] = [];
    for (const each of cases) found.push(await seenAt(at, each));
    return found;
  };
  const [theirs, mine] = await Promise.all([one("theirs"), one("ours")]);
  theirs!.forEach((text, i) => assert.equal(mine![i], text, JSON.stringify(cases[i])));
  seen.push(...mine!);
  return seen;
}

const throws = (input: Any): Case => ["throws", input];

test(
  "synchronous operations and errors of every kind equal those of the official worker",
  { skip },
  async () => {
    const quick: Case = ["echo", { a: [1, null, "x"] }];
    const types = [
      "BAD_REQUEST",
      "UNAUTHENTICATED",
      "UNAUTHORIZED",
      "NOT_FOUND",
      "NOT_IMPLEMENTED",
    ];
    const retryable = ["RESOURCE_EXHAUSTED", "INTERNAL", "UNAVAILABLE", "UPSTREAM_TIMEOUT"];
    // Servers before 1.30 do not know these, and try them again whatever they say.
    const newer = ["CONFLICT", "REQUEST_TIMEOUT"];
    const soon = { options: { scheduleToCloseTimeout: "2s" } };
    await (await worker("ours")).runUntil(async () => {
      const seen = await compared([
        ["about", { b: 2 }, { options: { headers: { "x-own": "yes" } } }],
        throws({ kind: "operation", state: "failed", message: "op failed" }),
        throws({ kind: "operation", state: "canceled", message: "op cancelled" }),
        throws({ kind: "operation", state: "failed", message: "op failed", caused: true }),
        throws({ kind: "operation", state: "canceled", message: "op cancelled", caused: true }),
        // A success in between keeps the circuit breaker closed.
        ...types.flatMap((
          type,
        ) => [throws({ kind: "handler", type, message: `is ${type}`, caused: true }), quick]),
        ...retryable.flatMap((
          type,
        ) => [throws({ kind: "handler", type, message: `is ${type}`, retryable: false }), quick]),
        ...newer.flatMap((
          type,
        ): Case[] => [["throws", { kind: "handler", type, message: "new" }, soon], quick]),
        throws({ kind: "application", message: "app" }),
        quick,
        throws({ kind: "started" }),
        ["missing", {}, { service: "more" }],
        quick,
        ["echo", {}, { service: "absent" }],
      ]);
      assert.match(seen[0]!, /"hasDeadline":true.*WorkflowEvent/);
      assert.match(seen[1]!, /ApplicationFailure.*op failed.*OperationError/);
      assert.match(seen[2]!, /CancelledFailure.*op cancelled/);
      assert.match(seen[5]!, /"type":"BAD_REQUEST".*Deep/);
      assert.match(seen.at(-1)!, /No service handler registered for service name 'absent'/);
    });
  },
);

test("retryable errors are retried", { skip }, async () => {
  await (await worker("ours")).runUntil(async () => {
    const seen = await compared([
      throws({ kind: "first", type: "UNAVAILABLE" }),
      throws({ kind: "plain first" }),
      throws({ kind: "retryable first" }),
    ]);
    for (const text of seen) assert.match(text, /"result":\{"attempt":2\}/);
  });
});

test("asynchronous operations are runs of workflows, with their links, callbacks and tokens", {
  skip,
}, async () => {
  for (const at of ["theirs", "ours"]) {
    const options = { taskQueue: "callers", args: [{ waits: true }] };
    await client.workflow.start("backing", { ...options, workflowId: `standing-${at}` });
    await client.workflow.start("backing", { ...options, workflowId: `joined-${at}` });
  }
  const run = (input: Any, more?: Any): Case => ["run", { taskQueue: "callers", ...input }, more];
  const other = (
    input: Any,
    more?: Any,
  ): Case => ["temporal", { taskQueue: "callers", ...input }, more];
  await (await worker("ours")).runUntil(async () => {
    const seen = await compared([
      run({ workflowId: "ends-@", result: "yes" }),
      run({ workflowId: "fails-@", ends: "fails" }),
      run({ workflowId: "cancelled-@", waits: true }, { cancelAfterMs: 300 }),
      run({ workflowId: "standing-@" }),
      run({ workflowId: "joined-@", conflict: "USE_EXISTING" }, { cancelAfterMs: 300 }),
      other({ what: "run", workflowId: "other-@", result: 7 }),
      other({ what: "run", workflowId: "other-cancelled-@", waits: true }, { cancelAfterMs: 300 }),
      other({ what: "query", workflowId: "standing-@" }),
      other({ what: "signal", workflowId: "standing-@", with: "x" }),
      other({ what: "signalWithStart", workflowId: "signalled-@" }),
      other({ what: "twice", workflowId: "twice-@" }),
    ]);
    assert.match(
      seen[0]!,
      /"result":\{"result":"yes"\}.*\\"t\\":1,\\"ns\\":\\"default\\",\\"wid\\":\\"ends-ENDPOINT/,
    );
    assert.match(seen[0]!, /"backing":\[\{"eventType":1.*nexus-operation-token/);
    assert.match(seen[1]!, /"the run fails"/);
    assert.match(seen[2]!, /CancelledFailure/);
    assert.match(seen[3]!, /already started/);
    assert.match(seen[4]!, /CancelledFailure/);
    assert.match(seen[5]!, /"result":7/);
    assert.match(seen[8]!, /"result":"signalled"/);
    assert.match(seen[10]!, /Only one async operation/);
  });
});

test(
  "a native worker handles operations like the official worker, and accepts new services while it runs",
  { skip },
  async () => {
    const connected = await Connection.connect({ address: server.address });
    const handlers = services(nexus, temporal, common, (line: string) => noted.push(line));
    const native = await NativeWorker.create({
      ...{
        service: connected,
        taskQueue: "native",
        nexusServices: nexusServices(handlers),
        logger: silentLogger,
      },
    });
    await native.runUntil(async () => {
      assert.deepEqual(native.nexusServices, ["tests"]);
      const cases: Case[] = [
        ["about", { b: 2 }, { options: { headers: { "x-own": "yes" } } }],
        throws({ kind: "handler", type: "BAD_REQUEST", message: "is refused", caused: true }),
        ["run", { taskQueue: "callers", workflowId: "own-@", result: "yes" }],
      ];
      for (const each of cases) {
        assert.equal(
          await seenAt("native", each),
          await seenAt("theirs", each),
          JSON.stringify(each),
        );
      }
      const { definition } = handlers[0];
      const other = nexus.service(definition.name, { slow: nexus.operation() });
      native.replaceNexusServices(
        nexusServices([nexus.serviceHandler(other, { slow: () => Promise.resolve("another") })]),
      );
      assert.equal(
        (await call({ endpoint: "native", operation: "slow", input: {} })).result,
        "another",
      );
      assert.throws(
        () => native.replaceNexusServices(nexusServices([{}])),
        /nexus\.serviceHandler\(\) of nexus-rpc/,
      );
      assert.equal(
        (await call({ endpoint: "native", operation: "slow", input: {} })).result,
        "another",
      );
    });
    await connected.close();
  },
);

test(
  "temporalex worker --nexus-services handles operations as the official worker does",
  { skip },
  async () => {
    const module = officialProgram("nexus_cli_services.mjs");
    const argv = [
      "worker",
      "--address",
      server.address,
      "--task-queue",
      "program",
      "--nexus-services",
      module,
      "--json",
    ];
    const child = spawn(process.execPath, [join(root, "dist/ts/cli/main.js"), ...argv], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    try {
      let said = "";
      child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
      await until(
        "the worker is ready",
        () => said.includes('"started"') || child.exitCode !== null,
      );
      assert.match(said, /"nexusServices":\["tests"\]/);
      const cases: Case[] = [
        ["about", { b: 2 }, { options: { headers: { "x-own": "yes" } } }],
        throws({ kind: "handler", type: "BAD_REQUEST", message: "is refused", caused: true }),
        ["run", { taskQueue: "callers", workflowId: "by-worker-@", result: "yes" }],
        ["temporal", {
          taskQueue: "callers",
          what: "signalWithStart",
          workflowId: "signalled-by-worker-@",
        }],
      ];
      for (const each of cases) {
        assert.equal(
          await seenAt("program", each),
          await seenAt("theirs", each),
          JSON.stringify(each),
        );
      }
    } finally {
      child.kill("SIGTERM");
      assert.equal(await ended, 0);
    }
  },
);

test("temporalex worker --watch reloads Nexus handlers and their imports", { skip }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-nexus-"));
  symlinkSync(
    realpathSync(join(root, "tests/system/interop/node_modules")),
    join(folder, "node_modules"),
  );
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write("words.ts", 'export const word: string = "first";\n');
  write("count.cjs", "exports.count = 1;\n");
  const handlers = (says: string) =>
    `import * as nexus from "nexus-rpc";
import { word } from "./words.ts";
import { count } from "./count.cjs";
const tests = nexus.service("tests", { slow: nexus.operation<unknown, string>() });
export const handlers = nexus.serviceHandler(tests, { slow: async () => \`${says} \${word} \${count}\` });
`;
  write("handlers.ts", handlers("says"));
  const argv = [
    "worker",
    "--address",
    server.address,
    "--task-queue",
    "watched",
    "--nexus-services",
    "handlers.ts",
    "--watch",
    "--json",
  ];
  const child = spawn(process.execPath, [join(root, "dist/ts/cli/main.js"), ...argv], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  try {
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text) => (said += text));
    const told = (text: string, times: number) =>
      until(`it prints ${text}`, () => said.split(text).length > times || child.exitCode !== null);
    const answer = async () =>
      (await call({ endpoint: "watched", operation: "slow", input: {} })).result;
    await told('"started"', 1);
    assert.match(said, /"watching":3/);
    assert.equal(await answer(), "says first 1");
    write("words.ts", 'export const word: string = "second";\n');
    await told('"nexusServicesReplaced","nexusServices":["tests"]', 1);
    assert.equal(await answer(), "says second 1");
    write("count.cjs", "exports.count = 2;\n");
    await told('"nexusServicesReplaced"', 2);
    assert.equal(await answer(), "says second 2");
    write("handlers.ts", "export const no = 1;\n");
    await told('"why":"nexus"', 1);
    assert.match(said, /handlers\.ts exports no Nexus service/);
    assert.equal(await answer(), "says second 2");
    write("handlers.ts", handlers("reports"));
    await told('"nexusServicesReplaced"', 3);
    assert.equal(await answer(), "reports second 2");
  } finally {
    child.kill("SIGTERM");
    assert.equal(await ended, 0);
    rmSync(folder, { recursive: true, force: true });
  }
});

test(
  "a handler that outlives its request is canceled, and the request is retried",
  { skip },
  async () => {
    await (await worker("ours-quiet")).runUntil(async () => {
      // Servers give an attempt about ten seconds, however long the operation may take.
      const input = { name: "outlives", ms: 60_000 };
      const { result } = await call({
        endpoint: "ours-quiet",
        operation: "slow",
        input,
        options: { scheduleToCloseTimeout: "40s" },
      });
      assert.deepEqual(result, { attempt: 2 });
    });
    assert.ok(noted.includes("slow is canceled: TIMED_OUT true"), noted.join("\n"));
  },
);

test(
  "shutdown cancels handlers and waits for them; their callers get responses",
  { skip },
  async () => {
    const stopping = await worker("ours-stopping");
    const running = stopping.run();
    const calling = call({
      endpoint: "ours-stopping",
      operation: "slow",
      input: { name: "stopped", ms: 60_000, gives: true },
    });
    await until("the handler runs", () => noted.includes("slow begins stopped"));
    stopping.shutdown();
    await running;
    assert.ok(noted.includes("slow is canceled: WORKER_SHUTDOWN true"), noted.join("\n"));
    assert.deepEqual((await calling).result, { attempt: 1 });
  },
);

test("500 operations at once: no operation is lost or mixed up", { skip }, async () => {
  await (await worker("ours-many", { maxConcurrentNexusTaskExecutions: 20 })).runUntil(async () => {
    const callers = Array.from({ length: 20 }, (_, i) =>
      client.workflow.execute("many", {
        ...{ taskQueue: "callers", workflowId: `many-${i}`, workflowExecutionTimeout: "90s" },
        args: [{ endpoint: "ours-many", count: 25, from: i * 25 }],
      }));
    const results = (await Promise.all(callers)).flat();
    assert.deepEqual(results, Array.from({ length: 500 }, (_, i) => i));
  });
});
