// Patrols of examples/game that walk for years, in virtual time, on a store in a file: `node
// --expose-gc dist/tools/soak/patrols.js` (or with Deno). Closed runs are removed when they are a
// minute old. One JSON line per tenth of the way with memory and the file's size, and one at the
// end; exit code 1 when a step or a threat was lost, when no patrol continued as new, or when the
// file or the heap grew by more than a half from a fifth of the way on.
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { patrol, patrolSignals, patrolStatus, skirmish } from "../../examples/game/patrol.ts";
import { silentLogger } from "../../ts/base/logger.ts";
import { Client } from "../../ts/client/mod.ts";
import { EmbeddedEngine, VirtualClock } from "../../ts/engine/mod.ts";
import { Worker } from "../../ts/worker/mod.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    patrols: { type: "string", default: "100" },
    steps: { type: "string", default: "100000" },
    events: { type: "string", default: "500" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: patrols [--patrols 100] [--steps 100000] [--events 500]\n\n" +
      "--steps: of all patrols together. --events: continue-as-new is suggested at so many; 0: at the engine's 4,096.",
  );
  process.exit(0);
}
const patrols = Number(values.patrols);
const each = Math.ceil(Number(values.steps) / patrols);
const RETENTION_MS = 60_000;
const collect = (globalThis as { gc?: () => void }).gc;

const folder = mkdtempSync(join(tmpdir(), "temporalex-patrols-"));
const path = join(folder, "patrols.sqlite");
const size = () =>
  [path, `${path}-wal`].reduce(
    (sum, file) => sum + (existsSync(file) ? statSync(file).size : 0),
    0,
  ) / 1e6;
const clock = new VirtualClock(Date.UTC(2030, 0, 1));
const limits = Number(values.events) > 0
  ? { suggestContinueAsNewEvents: Number(values.events) }
  : {};
const engine = await EmbeddedEngine.open({ path, clock, synchronous: "NORMAL", limits });
const common = { service: engine, taskQueue: "patrols", logger: silentLogger };
const worker = await Worker.create({
  ...common,
  workflows: [patrol, skirmish],
  maxCachedWorkflows: patrols * 2,
});
const client = new Client(common);

const hop = () => new Promise((resolve) => setTimeout(resolve, 0));
/** Until no task is waiting or running. */
async function settled(): Promise<void> {
  for (let quiet = 0; quiet < 3;) {
    await hop();
    quiet = engine.busy || engine.stats().queuedTasks > 0 || worker.busyTasks > 0 ? 0 : quiet + 1;
  }
}

interface Sample {
  readonly steps: number;
  readonly heapMb: number;
  readonly fileMb: number;
}
const samples: Sample[] = [];
function sample(steps: number): void {
  collect?.();
  const { heapUsed, external } = process.memoryUsage();
  const one = {
    steps,
    heapMb: Math.round((heapUsed + external) / 1e5) / 10,
    fileMb: Math.round(size() * 10) / 10,
  };
  samples.push(one);
  console.log(
    JSON.stringify({
      ...one,
      openRuns: engine.stats().openRuns,
      seconds: Math.round(performance.now() / 1000),
    }),
  );
}

let exit = 0;
const failed = (what: string) => {
  exit = 1;
  console.error(what);
};
await worker.runUntil(async () => {
  const handles = [];
  const started: string[] = [];
  for (let i = 0; i < patrols; i++) {
    const handle = await client.start(patrol, {
      id: `patrol-${i}`,
      args: [{ route: ["gate", "well", "tower"], lives: 1 }],
    });
    handles.push(client.getHandle(patrol, `patrol-${i}`));
    started.push(handle.runId!);
  }
  await settled();
  let threats = 0;
  let purged = 0;
  for (let step = 1; step <= each; step++) {
    clock.advanceTo(engine.stats().nextWakeMs);
    await settled();
    if (step % 50 === 0) { // an even enemy is beaten, and the way is started again
      threats++;
      for (const handle of handles) await handle.signal(patrolSignals.threatDetected, 2 * step);
      await settled();
      for (let delay = 0; delay < 2; delay++) {
        clock.advanceTo(clock.nowMs() + 1000);
        await settled();
      }
    }
    if (step % 20 === 0) {
      purged += await engine.purge({ closedBefore: clock.nowMs() - RETENTION_MS });
    }
    if (step % Math.ceil(each / 10) === 0) sample(step * patrols);
  }
  let [steps, continued] = [0, 0];
  for (const [i, handle] of handles.entries()) {
    const state = await handle.query(patrolStatus);
    steps += state.steps;
    if (state.victories !== threats) {
      failed(`patrol-${i} got ${threats} threats and has met ${state.victories}`);
    }
    if (state.steps < each) failed(`patrol-${i} has gone ${state.steps} of ${each} steps`);
    if ((await handle.describe()).runId !== started[i]) continued++;
  }
  if (continued < patrols) {
    failed(`${patrols - continued} of ${patrols} patrols have not continued as new`);
  }
  const from = samples[Math.floor(samples.length / 5)]!;
  const to = samples.at(-1)!;
  for (const figure of ["heapMb", "fileMb"] as const) {
    if (to[figure] > from[figure] * 1.5 + 2) {
      failed(`${figure} has grown from ${from[figure]} to ${to[figure]}`);
    }
  }
  const seconds = Math.round(performance.now() / 1000);
  console.log(
    JSON.stringify({
      patrols,
      steps,
      threats: threats * patrols,
      continued,
      purged,
      from,
      to,
      seconds,
      ok: exit === 0,
    }),
  );
});
await engine.close();
rmSync(folder, { recursive: true, force: true });
process.exit(exit);
