// `temporalex worker` as a process: it works, takes changed code over while 200 runs are open,
// refuses what they do not agree with, and drains on Ctrl-C.
// takes: 13 s
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Client, silentLogger } from "../../../ts/client/mod.ts";
import { EmbeddedEngine } from "../../../ts/engine/mod.ts";
import { until } from "../../support/until.ts";
import { run } from "./support/run.ts";
import { startCommand } from "./support/process.ts";

// Written so that the build, which renames modules in import declarations, leaves the texts alone.
const ts = ".ts";
const workflows = (before: string, after: string) =>
  `import { activities, workflow } from "temporalex/workflow";
import { ending } from "./lib${ts}";
const acts = activities({ startToClose: "10m", retry: { maximumAttempts: 1 } });
export const waits = workflow("Waits", async (name) => {
  ${before}
  await acts.note(name, "first");
  await acts.gate();
  ${after}
  return ending(name);
});
`;
const activities = (word: string) =>
  `import { appendFileSync, existsSync } from "node:fs";
import { gateFile } from "./gate${ts}";
enum Word { It = "${word}" }
export function note(name: string, what: string): void {
  appendFileSync("notes.txt", name + " " + what + " " + Word.It + "\\n");
}
export async function gate(): Promise<void> {
  appendFileSync("at-gate.txt", "here\\n");
  while (!existsSync(gateFile)) await new Promise((resolve) => setTimeout(resolve, 50));
}
`;

async function inFolder(
  body: (folder: string, file: (name: string, text?: string) => string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-worker-"));
  const file = (name: string, text?: string) => {
    const path = join(folder, name);
    // As editors save: a new file in the place of the old one.
    if (text !== undefined) {
      writeFileSync(`${path}.tmp`, text);
      renameSync(`${path}.tmp`, path);
    }
    return path;
  };
  try {
    await body(folder, file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function withStore<T>(path: string, body: (client: Client) => Promise<T>): Promise<T> {
  const engine = await EmbeddedEngine.open({ path });
  try {
    return await body(new Client({ service: engine, taskQueue: "default", logger: silentLogger }));
  } finally {
    await engine.close();
  }
}

const RUNS = 200;

test("worker --watch with 200 open runs loads compatible code and rejects other code with run and line", () =>
  inFolder(async (folder, file) => {
    const store = join(folder, "shop.sqlite");
    file("workflows.ts", workflows("", ""));
    file("lib.ts", "export const ending = (name: string): string => `${name} old`;\n");
    file("activities.ts", activities("one"));
    file("gate.ts", 'export const gateFile: string = "open";\n');
    await withStore(store, async (client) => {
      await Promise.all(
        Array.from(
          { length: RUNS },
          (_, i) => client.start("Waits", { id: `w${i}`, args: [`w${i}`] }),
        ),
      );
    });
    const worker = startCommand([
      ...[
        "worker",
        "--store",
        store,
        "--workflows",
        "workflows.ts",
        "--activities",
        "activities.ts",
        "--watch",
        "--values=error",
        "--json",
      ],
      ...["--max-activities", "500"],
    ], folder);
    try {
      const started = await worker.line("started", ({ event }) => event === "started");
      assert.deepEqual(started["workflowTypes"], ["Waits"]);
      assert.deepEqual(started["activityTypes"], ["gate", "note"]);
      assert.equal(started["store"], store);
      assert.equal(started["watching"], 4);
      const notes = () =>
        existsSync(join(folder, "notes.txt"))
          ? readFileSync(join(folder, "notes.txt"), "utf8").trim().split("\n")
          : [];
      await until("all runs wait at the gate", () => notes().length >= RUNS);

      const incompatible = workflows('await acts.note(name, "zero");', "");
      file("workflows.ts", incompatible);
      // (A worker that is too busy says "failed", and tries the same code again.)
      const refusal = (why: string, from = 0) =>
        worker.line(
          `refused: ${why}`,
          (line) => line["event"] === "refused" && line["why"] === why,
          from,
        );
      const refused = await refusal("runs");
      const problems = refused["problems"] as {
        workflowId: string;
        runId: string;
        eventId: number;
        location: string;
      }[];
      assert.match(problems[0]!.workflowId, /^w\d+$/);
      assert.match(problems[0]!.runId, /^[0-9a-f-]{36}$/);
      const line = incompatible.split("\n").findIndex((text) => text.includes("acts.gate")) + 1;
      assert.match(
        problems[0]!.location,
        new RegExp(`workflows\\.ts:(${line}|${line - 2}|${line - 1}):`),
      );
      assert.match(String(refused["message"]), /Waits "w\d+" \(run [0-9a-f-]+\), event \d+/);

      let from = worker.lines.length;
      file("workflows.ts", workflows("", "").replace('"first"', '"1st"'));
      const changed = await refusal("runs", from);
      assert.match(String(changed["message"]), /changes values of 10 or more open runs/);
      assert.match(String(changed["message"]), /input\[1\] "1st"; the history has "first"\./);

      from = worker.lines.length;
      file("workflows.ts", "export const x = ;");
      await refusal("load", from);
      from = worker.lines.length;
      file("workflows.ts", workflows("", 'acts.note(name, "floating");'));
      const linted = await refusal("lint", from);
      assert.match(String(linted["message"]), /workflows\.ts:8:3: .*\[floating-promise\]/);
      from = worker.lines.length;
      file("activities.ts", "export const x = ;");
      await refusal("activities", from);

      from = worker.lines.length;
      file("activities.ts", activities("two"));
      await worker.line("activities", ({ event }) => event === "activitiesReplaced", from);
      file("workflows.ts", workflows("", 'await acts.note(name, "second");'));
      const replaced = await worker.line("replaced", ({ event }) => event === "replaced", from);
      assert.ok(Number(replaced["checkedRuns"]) >= RUNS);
      from = worker.lines.length;
      // A module that the workflows import.
      file("lib.ts", "export const ending = (name: string): string => `${name} new`;\n");
      await worker.line("replaced", ({ event }) => event === "replaced", from);

      file("open", "");
      await until("all runs have gone on", () => notes().length >= 2 * RUNS);
      assert.equal(await worker.end("SIGINT"), 0, worker.err());
      assert.equal(worker.lines.at(-1)!["event"], "stopped");
      const expected = Array.from(
        { length: RUNS },
        (_, i) => [`w${i} first one`, `w${i} second two`],
      ).flat().sort();
      assert.deepEqual(
        notes().sort(),
        expected,
        "each step was done once, by the code of its time",
      );
    } finally {
      await worker.end("SIGKILL");
    }
    // What was left undone at the stop is done at the next start.
    const rest = startCommand(
      [
        "worker",
        "--store",
        store,
        "--workflows",
        "workflows.ts",
        "--activities",
        "activities.ts",
        "--json",
      ],
      folder,
    );
    try {
      await rest.line("started", ({ event }) => event === "started");
      const open = ["workflow", "count", "--store", store, "-q", 'ExecutionStatus = "Running"'];
      await until("all runs are done", async () => (await run(open)).out === "0\n");
      assert.equal(await rest.end("SIGINT"), 0, rest.err());
    } finally {
      await rest.end("SIGKILL");
    }
    await withStore(store, async (client) => {
      for (let i = 0; i < RUNS; i++) {
        assert.equal(await client.getHandle("Waits", `w${i}`).result(), `w${i} new`);
      }
    });
  }));

test("worker --watch exits at once on a signal, also while changed activities hang during loading", () =>
  inFolder(async (folder, file) => {
    const begins =
      'import { writeFileSync } from "node:fs";\nwriteFileSync("loading", "");\nfor (let i = 0; i < 1e12; i++);\n';
    file("activities.ts", "export const act = (): number => 1;\n");
    const worker = startCommand(
      [
        "worker",
        "--store",
        join(folder, "shop.sqlite"),
        "--activities",
        "activities.ts",
        "--watch",
        "--json",
      ],
      folder,
    );
    try {
      await worker.line("started", ({ event }) => event === "started");
      file("activities.ts", begins);
      await until("the changed module is being loaded", () => existsSync(join(folder, "loading")));
      const since = performance.now();
      assert.equal(await worker.end("SIGTERM"), 0, worker.err());
      assert.ok(performance.now() - since < 20_000, "it waited for the module");
      assert.equal(worker.lines.at(-1)!["event"], "stopped");
    } finally {
      await worker.end("SIGKILL");
    }
  }));

test("worker --retention removes runs closed longer than that while it runs", () =>
  inFolder(async (folder, file) => {
    const store = join(folder, "shop.sqlite");
    file(
      "workflows.ts",
      'import { workflow } from "temporalex/workflow";\nexport const quick = workflow("Quick", async () => 1);\n',
    );
    await withStore(store, async (client) => {
      await client.start("Quick", { id: "a" });
      await client.getHandle("Quick", "a").terminate("closed");
    });
    await new Promise((resolve) => setTimeout(resolve, 20));
    const worker = startCommand(
      ["worker", "--store", store, "--workflows", "workflows.ts", "--retention", "1ms", "--json"],
      folder,
    );
    try {
      await worker.line("started", ({ event }) => event === "started");
      assert.equal(await worker.end("SIGINT"), 0, worker.err());
    } finally {
      await worker.end("SIGKILL");
    }
    await withStore(store, async (client) => assert.equal(await client.count(), 0));
    const cluster = await run([
      "worker",
      "--address",
      "localhost:1",
      "--workflows",
      "workflows.ts",
      "--retention",
      "1d",
    ], {
      cwd: folder,
    });
    assert.equal(cluster.code, 2);
    assert.match(cluster.err, /a setting of its namespace/);
  }));

test("worker --listen serves metrics and health: alive at the start, ready while polling, not ready while draining", () =>
  inFolder(async (folder, file) => {
    const store = join(folder, "shop.sqlite");
    file("workflows.ts", workflows("", ""));
    file("lib.ts", "export const ending = (name: string): string => name;\n");
    file("activities.ts", activities("one"));
    file("gate.ts", 'export const gateFile: string = "open";\n');
    await withStore(
      store,
      async (client) =>
        void await client.start("Waits", { id: "secret-id", args: ["secret-argument"] }),
    );
    const worker = startCommand([
      ...[
        "worker",
        "--store",
        store,
        "--workflows",
        "workflows.ts",
        "--activities",
        "activities.ts",
      ],
      ...["--listen", "0", "--grace", "5m", "--json"],
    ], folder);
    try {
      const { listening } = await worker.line("started", ({ event }) => event === "started");
      const ask = async (path: string) => {
        const answer = await fetch(`http://${listening}${path}`);
        return { status: answer.status, text: await answer.text() };
      };
      assert.match(String(listening), /^127\.0\.0\.1:\d+$/);
      assert.equal((await ask("/healthz")).status, 200);
      await until("it is ready", async () => (await ask("/readyz")).status === 200);
      // Not the note before it: a worker that has just ended that one, and has not got this one,
      // has nothing to wait for.
      await until("the activity runs", () => existsSync(join(folder, "at-gate.txt")));
      const { text } = await ask("/metrics");
      assert.match(text, /temporal_worker_task_slots_used\{[^}]*worker_type="ActivityWorker"/);
      assert.doesNotMatch(text, /secret-(?:id|argument)/, "neither ids nor payloads");
      const ended = worker.end("SIGTERM");
      await until("it is not ready", async () => (await ask("/readyz")).status === 503);
      assert.match((await ask("/readyz")).text, /not ready: the worker is stopping/);
      assert.equal((await ask("/healthz")).status, 200, "it is alive while an activity ends");
      file("open", "");
      assert.equal(await ended, 0, worker.err());
      assert.equal(worker.lines.at(-1)!["event"], "stopped");
    } finally {
      await worker.end("SIGKILL");
    }
    const at = { cwd: folder };
    const odd = await run([
      "worker",
      "--store",
      store,
      "--workflows",
      "workflows.ts",
      "--listen",
      "here",
    ], at);
    assert.equal(odd.code, 2);
    assert.match(odd.err, /--listen: "here" is not a valid address: write host:port/);
    const elsewhere = await run([
      "worker",
      "--store",
      store,
      "--workflows",
      "workflows.ts",
      "--listen",
      "192.0.2.1:9464",
    ], at);
    assert.equal(elsewhere.code, 1);
    assert.match(
      elsewhere.err,
      /cannot be served on 192\.0\.2\.1:9464: this machine does not have this address/,
    );
  }));

test("worker: text output names the store", () =>
  inFolder(async (folder, file) => {
    file("lib.ts", "export const ending = (name: string): string => name;\n");
    const stop = new AbortController();
    let out = "";
    const { code, err } = await run([
      "worker",
      "--store",
      "shop.sqlite",
      "--workflows",
      file("w.ts", workflows("", "")),
    ], {
      cwd: folder,
      interrupt: stop.signal,
      out: (text) => {
        out += text;
        if (out.includes("working on")) stop.abort();
      },
    });
    assert.equal(code, 0, err);
    assert.equal(
      out.split("\n")[0],
      `working on task queue "default" of store ${join(folder, "shop.sqlite")}`,
    );
  }));

test("worker: a store that another process has open", () =>
  inFolder(async (folder, file) => {
    const store = join(folder, "shop.sqlite");
    file("lib.ts", "export const ending = (name: string): string => name;\n");
    await withStore(store, async () => {
      const { code, err } = await run([
        "worker",
        "--store",
        store,
        "--workflows",
        file("w.ts", workflows("", "")),
      ], {
        cwd: folder,
      });
      assert.equal(code, 1);
      assert.match(
        err,
        /^temporalex: \S+shop\.sqlite is open in process \d+; a store has one worker at a time: end that one, name another --store, or give its workers a Temporal cluster \(--address\)\n$/,
      );
    });
  }));

test("worker: usage errors and modules that do not load are reported at once, as text and as JSON", () =>
  inFolder(async (folder, file) => {
    const at = { cwd: folder };
    const both = await run([
      "worker",
      "--store",
      "a",
      "--address",
      "b:1",
      "--workflows",
      file("w.ts", workflows("", "")),
    ], at);
    assert.equal(both.code, 2);
    assert.match(both.err, /--store and --address cannot be used together/);
    const unnamed = await run(["worker", "--store", "a"], at);
    assert.equal(unnamed.code, 2);
    assert.match(unnamed.err, /--workflows/);
    const endpoints = await run(
      ["worker", "--store", "a", "--nexus-services", file("services.ts", "export const no = 1;\n")],
      at,
    );
    assert.equal(endpoints.code, 2);
    assert.match(
      endpoints.err,
      /--nexus-services is for workers on a cluster, which has the endpoints: name it with --address/,
    );
    const services = await run([
      "worker",
      "--address",
      "127.0.0.1:1",
      "--nexus-services",
      "services.ts",
    ], at);
    assert.equal(services.code, 2);
    assert.match(
      services.err,
      /services\.ts exports no Nexus service: export what nexus\.serviceHandler\(\.\.\.\) of nexus-rpc makes/,
    );
    const missing = await run(["worker", "--store", "s.sqlite", "--workflows", "nowhere.ts"], at);
    assert.equal(missing.code, 2);
    assert.match(missing.err, /--workflows nowhere\.ts: no such file/);
    file("bad.ts", 'import "node:fs";\n');
    const bad = await run([
      "worker",
      "--store",
      join(folder, "s.sqlite"),
      "--workflows",
      "bad.ts",
      "--json",
    ], at);
    assert.equal(bad.code, 2);
    const { error } = JSON.parse(bad.err.trim().split("\n").at(-1)!);
    assert.match(error.message, /bad\.ts:1: .*node:fs/);
    file("empty.ts", "export const a = 1;\n");
    const empty = await run([
      "worker",
      "--store",
      join(folder, "s.sqlite"),
      "--workflows",
      "empty.ts",
    ], at);
    assert.equal(empty.code, 2);
    assert.match(empty.err, /the workflow module \S*empty\.ts exports no workflow/);
    file("broken.ts", "export const a = 1 +;\n");
    const broken = await run([
      "worker",
      "--store",
      join(folder, "s.sqlite"),
      "--activities",
      "broken.ts",
    ], at);
    assert.equal(broken.code, 2);
    assert.match(broken.err, /broken\.ts/);
  }));
