// What a broadcast costs: `node dist/tools/soak/broadcasts.js [--matches 100] [--subscribers
// 100,10000,100000] [--rounds 20] [--path FILE]`. Runs with a subscription each, of which some
// match; broadcasts to these, and the time of one, the median of the rounds. One JSON line for each
// number of subscribers and one for the end. Exit code 1 when another run than those that match was
// touched.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { Client, silentLogger } from "../../ts/client/mod.ts";
import { EmbeddedEngine, SqliteStore } from "../../ts/engine/mod.ts";
import { ProbeStore } from "../../tests/unit/engine/support/probe_store.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    matches: { type: "string", default: "100" },
    subscribers: { type: "string", default: "100,10000,100000" },
    rounds: { type: "string", default: "20" },
    path: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: broadcasts [--matches 100] [--subscribers 100,10000,100000] [--rounds 20] [--path FILE]\n\n" +
      "Measures broadcasts that reach as many runs of more and more subscribers.",
  );
  process.exit(0);
}
const matches = Number(values.matches);
const rounds = Number(values.rounds);
const WARM_UP = 5;
const median = (of: readonly number[]) => [...of].sort((a, b) => a - b)[of.length >> 1]!;
const rounded = (ms: number) => Math.round(ms * 100) / 100;

interface Place {
  readonly subscribers: number;
  readonly times: number[];
  touched: number;
  round(n: number): Promise<void>;
  close(): Promise<void>;
}

async function prepare(subscribers: number, path: string): Promise<Place> {
  const store = new ProbeStore(SqliteStore.open(path, { synchronous: "normal" }));
  const engine = await EmbeddedEngine.open({ store });
  const client = new Client({ service: engine, taskQueue: "none", logger: silentLogger });
  // Runs that wait, as subscribers do: the engine need not have them in memory.
  const start = (i: number) => {
    const searchAttributes = {
      WorkflowSubscription: ["killed:", `killed:${i < matches ? "orc" : `kind-${i}`}`],
    };
    return client.start("Quest", { id: `quest-${i}`, searchAttributes, startDelay: "365 days" });
  };
  for (let from = 0; from < subscribers; from += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, subscribers - from) }, (_, i) => start(from + i)),
    );
  }
  return {
    subscribers,
    times: [],
    touched: 0,
    async round(n) {
      store.sizes.length = 0;
      const began = performance.now();
      const reached = await client.broadcast("killed", "orc", { n });
      this.times.push(performance.now() - began);
      this.touched = Math.max(this.touched, reached, ...store.sizes);
    },
    async close() {
      await engine.close();
      store.close();
    },
  };
}

const folder = values.path === undefined
  ? mkdtempSync(join(tmpdir(), "temporalex-broadcasts-"))
  : undefined;
try {
  const places: Place[] = [];
  for (const subscribers of values.subscribers.split(",").map(Number)) {
    places.push(
      await prepare(subscribers, `${values.path ?? join(folder!, "store.db")}.${subscribers}`),
    );
  }
  // In turns, so that what else the machine does falls on all of them alike. The first rounds load
  // runs and warm the code.
  for (let n = -WARM_UP; n < rounds; n++) for (const place of places) await place.round(n);
  const medians: number[] = [];
  for (const { subscribers, touched, times } of places) {
    const [first, ...others] = times;
    const kept = others.slice(WARM_UP - 1);
    const ms = median(kept);
    medians.push(ms);
    const fields = {
      touched,
      firstMs: rounded(first!),
      ms: rounded(ms),
      leastMs: rounded(Math.min(...kept)),
    };
    console.log(
      JSON.stringify({ subscribers, ...fields, usPerMatch: rounded(ms * 1000 / matches) }),
    );
  }
  const percentApart = Math.round((medians[medians.length - 1]! / medians[0]! - 1) * 100);
  const wrong = places.filter(({ touched }) => touched !== matches).length;
  console.log(JSON.stringify({ matches, rounds, percentApart, wrong }));
  process.exitCode = wrong === 0 ? 0 : 1;
  for (const place of places) await place.close();
} finally {
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
}
