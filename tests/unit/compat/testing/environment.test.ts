// TestWorkflowEnvironment, as the tests of a project of the official SDK use it.
// takes: 4 s
// process: own (it installs the Runtime of the worker package)
import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Client, WorkflowFailedError } from "../../../../ts/compat/client/mod.ts";
import {
  ApplicationFailure,
  defineSearchAttributeKey,
  type Payload,
} from "../../../../ts/compat/common/mod.ts";
import {
  TestWorkflowEnvironment,
  TimeSkippingWorkflowClient,
  workflowInterceptorModules,
} from "../../../../ts/compat/testing/mod.ts";
import { checkServerOptions } from "../../../../ts/compat/testing/server_options.ts";
import { DefaultLogger, Runtime, Worker } from "../../../../ts/compat/worker/mod.ts";

Runtime.install({ logger: new DefaultLogger("ERROR") });

const DAY = 86_400_000;
const workflowsPath = fileURLToPath(new URL("./modules/time_workflows.ts", import.meta.url));

test("createTimeSkipping: results arrive at once; sleep and currentTimeMs use the skipped time", async () => {
  const env = await TestWorkflowEnvironment.createTimeSkipping();
  try {
    assert.equal(env.supportsTimeSkipping, true);
    assert.match(env.address, /^127\.0\.0\.1:\d+$/);
    const from = await env.currentTimeMs();
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: "test",
      workflowsPath,
      activities: {
        async sleeps(ms: number) {
          await env.sleep(ms);
          return "activity";
        },
      },
    });
    await worker.runUntil(async () => {
      const options = { taskQueue: "test", args: [30 * DAY] };
      assert.equal(
        await env.client.workflow.execute("sleeper", { ...options, workflowId: "month" }),
        "slept",
      );
      const handle = await env.client.workflow.start("sleeper", {
        ...options,
        workflowId: "again",
      });
      assert.equal(await handle.result(), "slept");
      const race = { taskQueue: "test", workflowId: "race", args: [2 * DAY, DAY] };
      assert.equal(await env.client.workflow.execute("sleepRace", race), "timer");
      await env.sleep("3 days");
    });
    const days = (await env.currentTimeMs() - from) / DAY;
    assert.ok(days >= 64, `${days}`);
  } finally {
    await env.teardown();
  }
});

test("createLocal: a server on the wall clock, with a namespace for the test", async () => {
  const env = await TestWorkflowEnvironment.createLocal({ server: { namespace: "tests" } });
  try {
    assert.deepEqual([env.supportsTimeSkipping, env.namespace, env.client.options.namespace], [
      false,
      "tests",
      "tests",
    ]);
    const worker = await Worker.create({
      connection: env.nativeConnection,
      namespace: env.namespace,
      taskQueue: "test",
      workflowsPath,
    });
    const short = { taskQueue: "test", workflowId: "short", args: [20] };
    assert.equal(await worker.runUntil(env.client.workflow.execute("sleeper", short)), "slept");
    const before = Date.now();
    await env.sleep(30);
    assert.ok(Date.now() - before >= 29);
    assert.ok(Math.abs(await env.currentTimeMs() - Date.now()) < 10_000);
  } finally {
    await env.teardown();
  }
});

test("createFromExistingServer uses an existing server and does not stop it", async () => {
  const local = await TestWorkflowEnvironment.createLocal();
  const { address } = local;
  const env = await TestWorkflowEnvironment.createFromExistingServer({ address });
  assert.equal((await env.client.workflow.count()).count, 0);
  const { id, version } = await env.createNexusEndpoint("billing", "payments");
  await assert.rejects(
    local.createNexusEndpoint("billing", "payments"),
    (error: Error & { code?: number }) => error.code === 6,
  );
  await env.deleteNexusEndpoint({ id, version });
  await assert.rejects(
    local.deleteNexusEndpoint({ id, version }),
    (error: Error & { code?: number }) => error.code === 5,
  );
  await env.teardown();
  assert.equal((await local.client.workflow.count()).count, 0);
  assert.throws(
    () => new TimeSkippingWorkflowClient({ connection: local.connection }),
    /time cannot be skipped/,
  );
  await local.teardown();
});

test("a client without time skipping does not move time", async () => {
  const env = await TestWorkflowEnvironment.createTimeSkipping();
  try {
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: "test",
      workflowsPath,
    });
    const plain = new Client({ connection: env.connection });
    await worker.runUntil(async () => {
      const handle = await plain.workflow.start("sleeper", {
        taskQueue: "test",
        workflowId: "plain",
        args: [DAY],
      });
      const first = await Promise.race([
        handle.result(),
        new Promise((resolve) => setTimeout(resolve, 300, "waits")),
      ]);
      assert.equal(first, "waits");
      await handle.terminate();
    });
  } finally {
    await env.teardown();
  }
});

test("codecs get bytes as Buffers, at the client and at the worker", async () => {
  const env = await TestWorkflowEnvironment.createLocal();
  try {
    const seen: string[] = [];
    const dataConverter = {
      payloadCodecs: [{
        encode: (payloads: Payload[]) => Promise.resolve(payloads),
        decode(payloads: Payload[]) {
          for (const { data } of payloads) seen.push(String(data));
          return Promise.resolve(payloads);
        },
      }],
    };
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: "test",
      workflowsPath,
      dataConverter,
    });
    const client = new Client({ connection: env.connection, dataConverter });
    const run = client.workflow.execute("sleeper", {
      taskQueue: "test",
      workflowId: "coded",
      args: [1],
    });
    assert.equal(await worker.runUntil(run), "slept");
    assert.deepEqual([...new Set(seen)].sort(), ['"slept"', "1"]);
  } finally {
    await env.teardown();
  }
});

test("workflowInterceptorModules: a failed assertion fails the workflow", async () => {
  const env = await TestWorkflowEnvironment.createLocal();
  try {
    const interceptors = { workflowModules: workflowInterceptorModules };
    const worker = await Worker.create({
      connection: env.nativeConnection,
      taskQueue: "test",
      workflowsPath,
      interceptors,
    });
    const run = env.client.workflow.execute("asserts", {
      taskQueue: "test",
      workflowId: "asserts",
    });
    await assert.rejects(worker.runUntil(run), (error) => {
      assert.ok(
        error instanceof WorkflowFailedError && error.cause instanceof ApplicationFailure,
        String(error),
      );
      assert.deepEqual([error.cause.message, error.cause.nonRetryable], ["one is not two", true]);
      return true;
    });
  } finally {
    await env.teardown();
  }
});

const started = (extraArgs: string[]) =>
  TestWorkflowEnvironment.createLocal({ server: { extraArgs } });

test("arguments for Temporal's server that have no effect here are accepted", async () => {
  const multi = "frontend.enableExecuteMultiOperation=true";
  const env = await started([
    "--dynamic-config-value",
    multi,
    `--dynamic-config-value=${multi}`,
    "--headless",
    "--search-attribute",
    "A=Int",
  ]);
  await env.teardown();
});

test("search attributes of the options are registered, and other names are rejected", async () => {
  const searchAttributes = [defineSearchAttributeKey("Office", "KEYWORD_LIST")];
  const server = { searchAttributes, extraArgs: ["--search-attribute", "Floor=Int"] };
  const env = await TestWorkflowEnvironment.createLocal({ server });
  try {
    const start = (name: string) =>
      env.client.workflow.start("sleeper", {
        ...{ taskQueue: "none", workflowId: name },
        typedSearchAttributes: [{ key: defineSearchAttributeKey(name, "INT"), value: 1 }],
      });
    await start("Floor");
    assert.equal((await env.client.workflow.count("Floor = 1")).count, 1);
    assert.equal((await env.client.workflow.count("Office = 'a'")).count, 0);
    const cause = ({ cause }: { cause?: Error }) => /Other/.test(cause?.message ?? "");
    await assert.rejects(start("Other"), cause);
  } finally {
    await env.teardown();
  }
  await assert.rejects(started(["--search-attribute=A=Number"]), {
    name: "TypeError",
    message: /unknown type "Number" of the search attribute A: use Text, Keyword/,
  });
});

test("what a server of this process does not have is ignored with a warning", async () => {
  const server = {
    executable: { type: "existing-path", path: "/bin/temporal" },
    ui: true,
    uiPort: undefined,
    extraArgs: [
      ...["--headless", "--ui-port", "8080", "--headless=false", "stray"],
      "--dynamic-config-value=system.enableEagerWorkflowStart=true",
    ],
  } as const;
  const warnings: string[] = [];
  const options = { ...server, extraArgs: [...server.extraArgs] };
  checkServerOptions(options, (message) => warnings.push(message));
  const program = "the server is the embedded engine in this process, and no program is started";
  assert.deepEqual(warnings, [
    `Ignoring the option server.executable: ${program}`,
    "Ignoring the option server.ui: the server has no UI; `temporalex workflow` of the command line and the debugger show its runs",
    `Ignoring server.extraArgs "--ui-port 8080", "--headless false", "stray", ` +
    `"--dynamic-config-value system.enableEagerWorkflowStart=true": ${program}`,
  ]);
  const env = await TestWorkflowEnvironment.createLocal({ server: options });
  await env.teardown();
});

test("arguments that change what a test does are rejected with the option to use", async () => {
  for (
    const [args, message] of [
      [["--namespace", "mine"], /"--namespace": .*use server\.namespace/],
      [["--db-filename=a.db"], /"--db-filename": .*use server\.dbFilename/],
      [["--headless", "-p", "7233"], /"-p": .*use server\.port/],
    ] as const
  ) await assert.rejects(started([...args]), { name: "TypeError", message });
});

test("options that cannot be applied are rejected by name", async () => {
  await assert.rejects(
    TestWorkflowEnvironment.createLocal({ server: { ip: "0.0.0.0" } }),
    /server\.ip cannot be "0\.0\.0\.0"/,
  );
});
