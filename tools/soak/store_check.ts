// The long search for false alarms: `node dist/tools/soak/store_check.js --runs 5000 [--resets 200]
// [--fixtures DIR] [--seed 1] [--json]` (or with Deno: `deno run -A tools/soak/store_check.ts`).
// Everything that looks after stores must call sound: stores of random runs, while they are written
// and afterwards, with their backups and imports; runs of Temporal's dev server that were reset;
// published histories. Exit code 1 when anything of it was called damaged or could not be imported.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { Client, silentLogger } from "../../ts/client/mod.ts";
import { EmbeddedEngine } from "../../ts/engine/mod.ts";
import { GrpcService } from "../../ts/grpc/grpc_service.ts";
import { type JudgedFile, judgeFile } from "../../tests/unit/engine/support/history_files.ts";
import { liveMany, randomWorker } from "../../tests/unit/engine/support/random_runs.ts";
import { alarms, imported, judge, look } from "../../tests/unit/engine/support/sound.ts";
import { DevServer, noServer } from "../../tests/system/interop/support/dev_server.ts";
import { serverRuns } from "../../tests/system/interop/support/reset_runs.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    runs: { type: "string", default: "5000" },
    resets: { type: "string", default: "200" },
    fixtures: { type: "string", default: "../shared/fixtures" },
    seed: { type: "string", default: "1" },
    json: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    `usage: store_check [--runs 5000] [--resets 200] [--fixtures ../shared/fixtures] [--seed 1] [--json]

--runs N       random runs in stores of the embedded engine
--resets N     workflows on Temporal's dev server, each of which is reset once or more; 0 or no server: none
--fixtures DIR a folder with histories; what is no history is passed over
--seed N       seed of the first workflow
--json         one JSON line for each step`,
  );
  process.exit(0);
}
const whole = (name: "runs" | "resets" | "seed"): number => {
  const n = Number(values[name]);
  if (Number.isInteger(n) && n >= 0) return n;
  console.error(`--${name} must be a whole number, not "${values[name]}"`);
  process.exit(2);
};
const [wanted, resets, seed] = [whole("runs"), whole("resets"), whole("seed")];

/** Workflows of one store, which has half as many runs again. */
const PER_STORE = 500;
const found: string[] = [];
const began = performance.now();
const say = (step: string, figures: object): void => {
  const line = {
    step,
    ...figures,
    alarms: found.length,
    seconds: Math.round((performance.now() - began) / 1000),
  };
  console.log(
    values.json
      ? JSON.stringify(line)
      : Object.entries(line).map(([name, value]) => `${name} ${value}`).join(", "),
  );
};
const inFolder = async <T>(body: (folder: string) => Promise<T>): Promise<T> => {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-check-"));
  try {
    return await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/**
 * A store of random runs, which is closed and opened again on the way, and looked at all the time.
 */
const randomStore = (from: number) =>
  inFolder(async (folder) => {
    const path = join(folder, "random.sqlite");
    let looks = 0;
    for (
      const [first, last] of [[from, from + PER_STORE / 2], [
        from + PER_STORE / 2,
        from + PER_STORE,
      ]] as const
    ) {
      const engine = await EmbeddedEngine.open({ path });
      const worker = await randomWorker(engine, "random");
      const client = new Client({ service: engine, taskQueue: "random", logger: silentLogger });
      let over = false;
      const lived = worker.runUntil(() => liveMany(client, first, last, 60)).finally(() =>
        over = true
      );
      while (!over) {
        found.push(...alarms("while it is written", await look(path)));
        looks++;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
      await lived;
      await engine.close();
    }
    const judged = await judge(path);
    found.push(...judged.alarms);
    return { ...judged, looks };
  });

const total = { runs: 0, events: 0, imported: 0, looks: 0, notes: 0 };
for (let from = seed; total.runs < wanted; from += PER_STORE) {
  const { runs, events, imported, looks, notes } = await randomStore(from);
  total.runs += runs;
  total.events += events;
  total.imported += imported;
  total.looks += looks;
  total.notes += notes;
  say("random runs", total);
}

if (resets > 0 && noServer === false) {
  const server = await DevServer.start();
  const service = new GrpcService({ address: server.address });
  try {
    const runs = await serverRuns(
      service,
      resets,
      seed,
      (done) => done % 50 === 0 && say("resets", { workflows: done }),
    );
    found.push(...runs.alarms);
    found.push(...await inFolder((folder) => imported(join(folder, "server.sqlite"), runs.writes)));
    say("resets", { resets: runs.resets, runs: runs.writes.length, open: runs.open });
  } finally {
    service.close();
    await server.stop();
  }
} else if (resets > 0) say("resets", { skipped: noServer });

const filesIn = (folder: string): string[] =>
  readdirSync(folder).sort().flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return filesIn(path);
    return /\.(?:json|bin)$/.test(name) ? [path] : [];
  });
if (existsSync(values.fixtures)) {
  const counts: { [what in JudgedFile["what"]]: number } = {
    imported: 0,
    open: 0,
    "no history": 0,
  };
  for (const file of filesIn(values.fixtures)) {
    const judged = await inFolder((folder) => judgeFile(readFileSync(file), folder));
    counts[judged.what]++;
    found.push(...judged.alarms.map((alarm) => `${file}: ${alarm}`));
  }
  say("fixtures", counts);
} else say("fixtures", { skipped: `no folder ${values.fixtures}` });

for (const alarm of found.slice(0, 20)) console.error(alarm);
process.exitCode = found.length === 0 ? 0 : 1;
