// runtime: node
// What Node can do to a realm's thread: memory that runs out, and a process that should end while
// realms are idle.
// takes: 10 s
import test from "node:test";
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { pathToFileURL } from "node:url";
import process from "node:process";
import { shardOf } from "../../../ts/realm/sharded_realm.ts";
import { harness } from "./realm_support.ts";

const text = `import { sleep, workflow } from "temporalex/workflow";
export const hog = workflow("Hog", async () => { await sleep(1); const all: unknown[] = []; for (;;) { all.push(new Array(100_000).fill({})); } });
export const calm = workflow("Calm", async (n: number) => { for (let i = 0; i < n; i++) await sleep(1000); return n; });
`;

test("a workflow that uses up all memory ends its thread, not the process; other workflows continue", async () => {
  const h = await harness({
    workflows: "/app/main.ts",
    sources: { "/app/main.ts": text },
    maxHeapMb: 64,
    watchdogMs: 200_000,
  });
  try {
    const calm = [h.start("Calm", { args: [2] }), h.start("Calm", { args: [1] })];
    for (const run of calm) await run.task();
    const hog = h.start("Hog");
    await hog.task();
    hog.server.fireTimer("1");
    for (const run of calm) run.server.fireTimer("1");
    const open = [calm[0]!.task(), hog.task(), calm[1]!.task()];
    await Promise.all(open);
    assert.match(
      hog.failure,
      /workflow "Hog" .*crashed the thread of its realm \(it ran out of memory\)/,
    );
    assert.equal(hog.server.taskFailure?.cause, 14);
    assert.equal(await calm[0]!.auto(), 2);
    assert.equal(calm[1]!.server.closed?.result, 1);
  } finally {
    await h.realm.dispose();
  }
});

test("an out-of-memory thread of a realm does not affect the others", async () => {
  const sources = { "/app/main.ts": text };
  const h = await harness({
    workflows: "/app/main.ts",
    sources,
    maxHeapMb: 64,
    watchdogMs: 200_000,
    threads: 2,
  });
  const idIn = (shard: number) => {
    for (;;) {
      const id = crypto.randomUUID();
      if (shardOf(id, 2) === shard) return id;
    }
  };
  try {
    const other = h.start("Calm", { args: [3], runId: idIn(1) });
    const hog = h.start("Hog", { runId: idIn(0) });
    for (const run of [other, hog]) await run.task();
    hog.server.fireTimer("1");
    const ends = hog.task();
    assert.equal(await other.auto(), 3);
    await ends;
    assert.match(hog.failure, /crashed the thread of its realm \(it ran out of memory\)/);
    assert.deepEqual(h.fetched.filter((runId) => runId === other.server.runId), []);
  } finally {
    await h.realm.dispose();
  }
});

test("an idle realm does not keep a process alive, and a disposed one leaves no thread", async () => {
  const realm = pathToFileURL("dist/ts/realm/mod.js").href;
  const program = (end: string) => `
    import { createWorkerRealm } from ${JSON.stringify(realm)};
    const realm = await createWorkerRealm({ workflows: "/m.js", sources: { "/m.js": 'import { workflow } from "temporalex/workflow"; export const w = workflow("W", async () => {})' } });
    console.log(realm.workflowTypes.join());
    ${end}`;
  for (
    const end of [
      "",
      "await realm.dispose(); setTimeout(() => console.log(process.getActiveResourcesInfo().filter((r) => /Worker|MessagePort/.test(r)).length), 50);",
    ]
  ) {
    const out = await new Promise<string>((resolve, reject) => {
      execFile(
        process.execPath,
        ["--input-type=module", "-e", program(end)],
        // It ends by itself.
        { timeout: 120_000 },
        (error, stdout) => error === null ? resolve(stdout) : reject(error),
      );
    });
    assert.equal(out, end === "" ? "W\n" : "W\n0\n");
  }
});

test("many runs do not grow the realm's memory", async () => {
  const h = await harness({
    workflows: "/app/main.ts",
    sources: { "/app/main.ts": text },
    cacheSize: 10,
  });
  try {
    for (let i = 0; i < 300; i++) {
      const run = h.start("Calm", { args: [1] });
      if (i % 3 === 0) await run.task();
      else assert.equal(await run.auto(), 1);
    }
    assert.equal(h.fetched.length, 0);
  } finally {
    await h.realm.dispose();
  }
});

test("in a series of replays, a replay that does not yield is identified at once", async () => {
  const code = `${text}
console.log("a realm starts");
export const spin = workflow("Spin", () => { for (;;); });`;
  const h = await harness({
    workflows: "/app/main.ts",
    sources: { "/app/main.ts": code },
    watchdogMs: 3000,
  });
  try {
    const calm = h.start("Calm", { args: [2] });
    await calm.auto();
    const spin = h.start("Spin").server;
    spin.openTask();
    const history = calm.server.history();
    const verdicts = await Promise.all(
      [history, spin.history(), history].map((each) => h.realm.replay("wf", each)),
    );
    assert.deepEqual(verdicts.map(({ verdict, error }) => `${verdict} ${error?.name}`), [
      "ok undefined",
      "failed RealmLostError",
      "ok undefined",
    ]);
    // Without a culprit all are done again in a new realm, until the one that does not yield is the
    // first.
    assert.equal(h.logs.filter(({ message }) => message === "a realm starts").length, 2);
  } finally {
    await h.realm.dispose();
  }
});
