// Worker realms: tasks, sticky cache, messages, replays, logs, what is refused at the start,
// disposal.
// takes: 4 s
import test from "node:test";
import assert from "node:assert/strict";
import { WorkflowLoadError } from "../../../ts/modules/loader/errors.ts";
import { createWorkerRealm } from "../../../ts/realm/mod.ts";
import type { WebWorker } from "../../../ts/platform/threads.ts";
import { type Harness, harness, workflows } from "./realm_support.ts";
import { headWith } from "../../support/realms.ts";
import { readWorkflowTask } from "../../../ts/messages/workflow_task.ts";

const withRealm = async (
  options: Parameters<typeof harness>[0],
  body: (h: Harness) => Promise<void>,
): Promise<void> => {
  const h = await harness(options);
  try {
    await body(h);
  } finally {
    await h.realm.dispose();
  }
};
const sources = (text: string) => ({
  workflows: "/app/main.ts",
  sources: { "/app/main.ts": text },
});
const API =
  'import { workflow, sleep, sideEffect, log, receive, on, signal, noreply, stop } from "temporalex/workflow";\n';

test("a TypeScript module runs without a build, from the cache and by replay", async () => {
  await withRealm({ workflows: workflows("basic") }, async (h) => {
    assert.deepEqual([...h.realm.workflowTypes].sort(), ["Adder", "Doubled", "Seeded", "Timers"]);
    const run = h.start("Timers", { args: [3] });
    assert.equal(await run.auto(), "3 timers");
    assert.deepEqual(h.fetched, [], "every task found its run in the cache");
    const verdict = await h.realm.replay("wf", run.server.history());
    assert.equal(verdict.verdict, "ok");
    assert.equal(verdict.activations, 4);
  });
});

test("an evicted run is restored from its history", async () => {
  await withRealm({ workflows: workflows("basic") }, async (h) => {
    const run = h.start("Timers", { args: [2] });
    await run.task();
    h.realm.evict(run.server.runId);
    assert.equal(await run.auto(), "2 timers");
    assert.deepEqual(h.fetched, [run.server.runId]);
  });
  await withRealm({ workflows: workflows("basic"), cacheSize: 0 }, async (h) => {
    const run = h.start("Timers", { args: [2] });
    assert.equal(await run.auto(), "2 timers");
    assert.equal(h.fetched.length, 2);
  });
  await withRealm(
    {
      workflows: workflows("basic"),
      fetchHistory: () => Promise.reject(new Error("the store is away")),
    },
    async (h) => {
      const run = h.start("Timers", { args: [2] });
      await run.task();
      h.realm.evict(run.server.runId);
      await run.task();
      assert.match(run.failure, /the store is away/);
    },
  );
});

test("several runs are open in one realm: updates, signals, queries, activities", async () => {
  await withRealm({ workflows: workflows("basic") }, async (h) => {
    const adders = Array.from({ length: 5 }, () => h.start("Adder"));
    await Promise.all(adders.map((run) => run.task()));
    for (const [i, run] of adders.entries()) run.server.update("u", "add", i);
    await Promise.all(adders.map((run) => run.task()));
    assert.deepEqual(adders.map((run) => run.server.updates.get("u")!.result), [0, 1, 2, 3, 4]);
    for (const run of adders) run.server.signal("done");
    await Promise.all(adders.map((run) => run.task()));
    assert.deepEqual(
      adders.map((run) => run.server.closed?.result),
      [0, 1, 2, 3, 4].map((sum) => ({ sum })),
    );
    const query = await h.realm.runTask(
      readWorkflowTask(adders[3]!.server.queryTask("total", [], true)),
    );
    adders[3]!.server.report(query);
    assert.equal(adders[3]!.server.queryAnswers["query"]!.value, 7);
    const doubled = h.start("Doubled", { args: [21] });
    await doubled.task();
    doubled.server.completeActivity("1", 42);
    await doubled.task();
    assert.equal(doubled.server.closed?.result, 42);
  });
});

test("log lines and console output reach the host with the run's ids, but not on replay", async () => {
  await withRealm({ workflows: workflows("basic") }, async (h) => {
    const run = h.start("Doubled", { args: [1] });
    await run.task();
    const lines = h.logs.map(({ level, message, fields, workflowType, runId, source }) => ({
      level,
      message,
      fields,
      workflowType,
      runId,
      source,
    }));
    const names = { workflowType: "Doubled", runId: run.server.runId, source: "workflow" };
    assert.deepEqual(lines, [
      { level: "info", message: "doubling", fields: { n: 1 }, ...names },
      { level: "info", message: 'console {"n":1}', fields: {}, ...names },
    ]);
    run.server.completeActivity("1", 2);
    h.realm.evict(run.server.runId);
    await run.task();
    assert.equal(run.server.closed?.result, 2);
    assert.equal(h.logs.length, 2);
  });
  const text =
    `${API}export const w = workflow("W", async () => { log.info("odd", { f: () => 1 }); console.warn("a", new Map([[1, 2n]]), undefined) });`;
  await withRealm(sources(text), async (h) => {
    const run = h.start("W");
    await run.task();
    assert.equal(run.server.closed?.kind, "completed", run.failure);
    assert.deepEqual(h.logs.map((l) => [l.level, l.message, Object.keys(l.fields)]), [[
      "info",
      "odd",
      ["f"],
    ], [
      "warn",
      'a {"1":"2n"} undefined',
      [],
    ]]);
  });
});

test("errors of workflow code name the user's own TypeScript line", async () => {
  const text =
    `${API}interface Nothing {\n  here: string;\n}\nexport const w = workflow("W", async () => {\n  await sleep(1);\n  throw new TypeError("oh");\n});`;
  await withRealm(sources(text), async (h) => {
    const run = h.start("W");
    await run.task();
    run.server.fireTimer("1");
    await run.task();
    assert.match(run.failure, /oh/);
    assert.match(run.server.taskFailure!.failure.stackTrace, /file:\/\/\/app\/main\.ts:7:9/);
  });
});

test("a divergence names the line of the mismatched command", async () => {
  const before = `${API}export const w = workflow("W", async () => { await sleep(1000); });`;
  const after =
    `${API}import { activities } from "temporalex/workflow";\nconst a = activities<{ go(): void }>({ startToClose: 1000 });\nexport const w = workflow("W", async () => {\n  await a.go();\n});`;
  let history: Uint8Array;
  await withRealm(sources(before), async (h) => {
    const run = h.start("W");
    await run.auto();
    history = run.server.history();
  });
  await withRealm(sources(after), async (h) => {
    const { verdict, error } = await h.realm.replay("wf", history);
    assert.equal(verdict, "nondeterminism");
    assert.match(error!.message, /TMPRL1100/);
    assert.equal(error!.eventId, 5);
    assert.match(error!.location, /app\/main\.ts:5:/);
  });
});

test("an unknown workflow type and invalid task bytes are reported", async () => {
  await withRealm({ workflows: workflows("basic") }, async (h) => {
    const run = h.start("Unknown");
    await run.task();
    assert.match(run.failure, /"Unknown" is not known.*"Adder"/s);
    await assert.rejects(async () =>
      await h.realm.runTask({ head: headWith(), bytes: new Uint8Array([1, 2, 3, 255]) })
    );
    const unreadable = await h.realm.replay("wf", new Uint8Array([10, 255]));
    assert.equal(unreadable.verdict, "failed");
    assert.match(unreadable.error!.message, /cannot decode the history/);
    const next = h.start("Timers", { args: [0] });
    await next.task();
    assert.equal(next.server.closed?.result, "0 timers");
  });
});

/** [what, module text, expected error] */
const REFUSED: readonly (readonly [string, string, RegExp])[] = [
  ["a syntax error", `${API}export const a = 1;\nconst = 2;`, /\/app\/main\.ts:3:7: syntax error/],
  [
    "a module of Node",
    `${API}import "node:fs";`,
    /\/app\/main\.ts:2: imports "node:fs", a module of Node, which workflow code cannot use/,
  ],
  [
    "a throw while loading",
    `${API}\nthrow new Error("not today");`,
    /\/app\/main\.ts:3:7: fails while it is loaded: Error: not today/,
  ],
  [
    "time while loading",
    `${API}export const w = workflow("W", async () => {}); export const at = Date.now();`,
    /\/app\/main\.ts:2:\d+: fails while it is loaded: DeterminismError: Date\.now\(\) .*while modules are loaded/,
  ],
  [
    "randomness while loading",
    `${API}export const w = workflow("W", async () => {}); export const id = crypto.randomUUID();`,
    /main\.ts:2:\d+: .*DeterminismError: crypto\.randomUUID\(\)/,
  ],
  [
    "I/O while loading",
    `${API}export const w = workflow("W", async () => {}); fetch("http://localhost");`,
    /main\.ts:2:\d+: .*DeterminismError: fetch\(\) is not available in workflow code/,
  ],
  [
    "no workflow at all",
    "export const a = 1;",
    /the workflow module \S*main\.ts exports no workflow: export what workflow\("Name", \.\.\.\)/,
  ],
  [
    "two workflows of one name",
    `${API}export const a = workflow("A", async () => {}); export const b = workflow("A", async () => {});`,
    /two workflows are named "A": export a of \S*main\.ts, export b of \S*main\.ts/,
  ],
];

for (const [what, text, expected] of REFUSED) {
  test(`a realm does not start with ${what}`, async () => {
    await assert.rejects(harness(sources(text)), (e: Error) => {
      assert.match(e.message, expected);
      return true;
    });
  });
}

test("all problems of a module graph are returned as data", async () => {
  const error = await harness(sources('import "node:fs";\nimport "node:net";')).then(
    () => undefined,
    (e: unknown) => e,
  );
  assert.ok(error instanceof WorkflowLoadError);
  assert.deepEqual(error.problems.map((p) => [p.code, p.line, p.name]), [[
    "builtin-import",
    1,
    "node:fs",
  ], [
    "builtin-import",
    2,
    "node:net",
  ]]);
});

test("modules that never finish loading time out", async () => {
  await assert.rejects(
    // Long past the time; the loop ends by itself, as all of tests must
    // (tests/house/ended_loops.test.ts).
    harness({ ...sources("for (let i = 0; i < 5e9; i++);"), startupMs: 500 }),
    /were not loaded within 500 ms: code at their top level does not return/,
  );
});

test("a realm needs modules that exist", async () => {
  await assert.rejects(
    harness({ workflows: "tests/unit/realm/workflows/nowhere.ts" }),
    /nowhere\.ts: no such file/,
  );
  await assert.rejects(harness({ workflows: [] }), /no workflow modules were named/);
  await assert.rejects(createWorkerRealm({}), /needs `workflows`/);
});

test("module-level state causes a warning", async () => {
  await withRealm(
    sources(
      `${API}const seen = new Map();\nexport const w = workflow("W", async () => { seen.set(1, 2); });`,
    ),
    async (h) => {
      assert.deepEqual(h.realm.warnings.map((w) => [w.line, w.name]), [[3, "seen"]]);
      await Promise.resolve();
    },
  );
});

test("a payload converter is a module of the realm", async () => {
  const files = {
    "/app/main.ts":
      `${API}export const w = workflow("W", async (n: { big: bigint }) => ({ big: n.big + 1n }));`,
    "/app/converter.ts": `
      const utf8 = new TextEncoder(), text = new TextDecoder();
      export const payloadConverter = {
        toPayload: (value: unknown) => ({
          metadata: { encoding: utf8.encode("json/plain") },
          data: utf8.encode(JSON.stringify(value, (_, v) => typeof v === "bigint" ? { $big: String(v) } : v) ?? "null"),
        }),
        fromPayload: (payload: { data: Uint8Array }) =>
          JSON.parse(text.decode(payload.data), (_, v) => typeof v === "object" && v !== null && "$big" in v ? BigInt(v.$big) : v),
      };`,
  };
  await withRealm({
    workflows: "/app/main.ts",
    sources: files,
    payloadConverter: "/app/converter.ts",
  }, async (h) => {
    const run = h.start("W", { args: [{ big: { $big: "41" } }] });
    await run.task();
    assert.deepEqual(run.server.closed?.result, { big: { $big: "42" } }, run.failure);
  });
  const bad = { ...files, "/app/converter.ts": "export const x = 1;" };
  await assert.rejects(
    harness({ workflows: "/app/main.ts", sources: bad, payloadConverter: "/app/converter.ts" }),
    /exports no converter/,
  );
});

test("dispose rejects open calls and ends the thread", async () => {
  const h = await harness({
    workflows: workflows("basic"),
    fetchHistory: () => new Promise(() => {}),
  });
  const run = h.start("Timers", { args: [2] });
  await run.task();
  h.realm.evict(run.server.runId);
  const open = h.realm.runTask(readWorkflowTask(run.server.openTask({ sticky: true })));
  const disposed = assert.rejects(open, { name: "RealmDisposedError" });
  await h.realm.dispose();
  await h.realm.dispose();
  await disposed;
  await assert.rejects(h.realm.runTask(readWorkflowTask(run.server.openTask())), {
    name: "RealmDisposedError",
  });
  await assert.rejects(h.realm.replay("wf", run.server.history()), { name: "RealmDisposedError" });
});

test("a message contains only its bytes, not their whole buffer", async () => {
  interface Posted {
    readonly t: string;
    readonly task?: { readonly bytes: Uint8Array };
    readonly response?: Uint8Array;
    readonly history?: Uint8Array;
    readonly messages?: Posted[];
  }
  const posted: Posted[] = [];
  const entry = (): WebWorker => {
    const worker: WebWorker = {
      onmessage: null,
      onmessageerror: null,
      onerror: null,
      terminate: () => {},
      postMessage(message) {
        posted.push(message as Posted);
        if (posted.length === 1) {
          queueMicrotask(() =>
            worker.onmessage!({ data: { t: "ready", workflowTypes: [] } } as MessageEvent)
          );
        }
      },
    };
    return worker;
  };
  const realm = await createWorkerRealm({ entry });
  const within = (bytes: Uint8Array) => {
    const buffer = new Uint8Array(100_000);
    buffer.set(bytes, 5000);
    return buffer.subarray(5000, 5000 + bytes.length);
  };
  // workflow_execution (2): workflow "w" (1), run "r" (2)
  const task = Uint8Array.of(0x12, 6, 0x0a, 1, 0x77, 0x12, 1, 0x72);
  const open = [realm.runTask(readWorkflowTask(within(task))), realm.replay("w", within(task))];
  realm.taskReported("r", within(Uint8Array.of(1, 2, 3)));
  open.push(realm.runTask(readWorkflowTask(within(task))));
  await Promise.resolve();
  await realm.dispose();
  await Promise.allSettled(open);
  const sizes = posted.slice(1).flatMap((message) => message.messages ?? [message])
    .map((
      { t, task, response, history },
    ) => [t, (task?.bytes ?? response ?? history)!.buffer.byteLength]);
  assert.deepEqual(sizes, [["task", 8], ["replay", 8], ["reported", 3], ["task", 8]]);
  assert.deepEqual(
    posted.slice(1).map(({ t }) => t),
    ["task", "replay", "batch"],
    "what leaves at the same time leaves together",
  );
});
