// One entity at a time (the account of examples/entity): messages per second, the first message
// after its run left the worker's cache, and what an account at rest takes of memory. Engine,
// worker and client are in this process, workflow code in a worker realm, but for memory. JSON on
// standard output.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import * as activities from "../examples/entity/activities.ts";
import { accountOf, openAccount } from "../examples/entity/accounts.ts";
import { notifyUser, suspendNow, updateProfile, userAccount } from "../examples/entity/workflow.ts";
import { Client, silentLogger } from "../ts/client/mod.ts";
import { memoryBytes } from "../ts/core/half.ts";
import { EmbeddedEngine, type EngineLimits, MemoryStore } from "../ts/engine/mod.ts";
import { Worker, type WorkerOptions } from "../ts/worker/mod.ts";
import { count, options, round, spread } from "./lib/measure.ts";

const HELP = `usage: npm run bench -- entity [options]

--repeats=N     measurements that count, after a first one (default 5)
--messages=N    messages of one measurement (default 400)
--idle=N        accounts at rest, at memory (default 2000)
--store=KIND    memory, sqlite (default sqlite, FULL)`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const given = options(args, { repeats: "5", messages: "400", idle: "2000", store: "sqlite" });
const repeats = count("repeats", given.repeats);
const messages = count("messages", given.messages, 10);
const idle = count("idle", given.idle, 10);

async function withClient<T>(
  limits: EngineLimits,
  worker: Partial<WorkerOptions>,
  body: (client: Client) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-bench-"));
  const place = given.store === "memory"
    ? { store: new MemoryStore() }
    : { path: join(folder, "engine.sqlite") };
  const engine = await EmbeddedEngine.open({ ...place, limits });
  try {
    const common = { service: engine, taskQueue: "bench", logger: silentLogger };
    const workflows = new URL("../examples/entity/workflow.ts", import.meta.url);
    const running = await Worker.create({ ...common, workflows, activities, ...worker });
    return await running.runUntil(() => body(new Client(common)));
  } finally {
    await engine.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Messages per second of one account, by how many callers it has. */
function throughput(withActivity: boolean, callers: number) {
  return withClient({}, {}, async (client) => {
    const account = await openAccount(client, "ada");
    await account.update(suspendNow);
    const rates: number[] = [];
    for (let i = 0; i <= repeats; i++) {
      let left = messages;
      const caller = async () => {
        while (left-- > 0) {
          await (withActivity
            ? account.update(updateProfile, { name: "Ada" })
            : account.update(suspendNow));
        }
      };
      const began = performance.now();
      await Promise.all(Array.from({ length: callers }, caller));
      if (i > 0) rates.push(messages / ((performance.now() - began) / 1000));
    }
    return { withActivity, callers, perSecond: spread(rates) };
  });
}

/**
 * Milliseconds of an update that finds the account in the worker's cache, and of one that does not:
 * its history is replayed.
 */
function afterRest(operations: number) {
  return withClient(
    { suggestContinueAsNewEvents: 50_000 },
    { cachedWorkflows: 1 },
    async (client) => {
      const [account, other] = [await openAccount(client, "ada"), await openAccount(client, "bob")];
      for (const each of [account, other]) await each.update(suspendNow);
      for (let i = 0; i < operations; i++) {
        await account.update(updateProfile, {
          name: `Ada ${i}`,
        });
      }
      const timed = async () => {
        const began = performance.now();
        await account.update(suspendNow);
        return performance.now() - began;
      };
      const [cached, replayed]: number[][] = [[], []];
      for (let i = 0; i < repeats * 4; i++) {
        cached!.push(await timed());
        await other.update(suspendNow); // takes the one place
        replayed!.push(await timed());
      }
      const { historyLength } = await accountOf(client, "ada").describe();
      return {
        historyEvents: historyLength,
        cachedMs: spread(cached!),
        replayedMs: spread(replayed!),
      };
    },
  );
}

/**
 * Bytes of an idle account in the worker's cache, after one operation. The engine keeps no part of
 * them.
 */
function memory() {
  const { gc } = globalThis as { gc?: () => void };
  const used = async () => {
    for (let i = 0; i < 3; i++) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      gc?.();
    }
    const { heapUsed, rss } = process.memoryUsage();
    return { heap: heapUsed, wasm: memoryBytes(), rss };
  };
  // In this thread, where the heap can be measured.
  return withClient({ cachedRuns: 1 }, {
    workflows: [userAccount, notifyUser],
    cachedWorkflows: idle + 1000,
  }, async (client) => {
    const fill = async (from: number, to: number) => {
      let next = from;
      const lane = async () => {
        while (next < to) {
          await (await openAccount(client, `user-${next++}`)).update(updateProfile, {
            name: "Ada",
          });
        }
      };
      await Promise.all(Array.from({ length: 16 }, lane));
    };
    await fill(0, 200);
    const before = await used();
    await fill(200, 200 + idle);
    const after = await used();
    const bytes = (part: keyof typeof after) => round((after[part] - before[part]) / idle);
    return {
      accounts: idle,
      heapBytes: bytes("heap"),
      wasmBytes: bytes("wasm"),
      rssBytes: bytes("rss"),
    };
  });
}

const rates = [];
for (const withActivity of [false, true]) {
  for (const callers of [1, 10]) rates.push(await throughput(withActivity, callers));
}
const rest = [];
for (const operations of [1, 100, 350]) rest.push(await afterRest(operations));
const { deno, node } = process.versions;
const runtime = deno !== undefined ? `deno ${deno}` : `node ${node}`;
const results = { throughput: rates, afterRest: rest, memory: await memory() };
console.log(
  JSON.stringify(
    { bench: "entity", runtime, store: given.store, repeats, messages, ...results },
    undefined,
    1,
  ),
);
