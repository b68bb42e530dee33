// Many accounts of examples/entity under load: `node --expose-gc dist/tools/soak/entities.js` (or
// with Deno). Every account gets messages of all kinds, some of them twice and some at once, over
// many generations; then each of them is queried for what it has seen. One JSON line now and then,
// and one at the end for each worker; exit code 1 when a message was lost, an update ran twice, or
// one did not complete.
import process from "node:process";
import { parseArgs } from "node:util";
import { silentLogger } from "../../ts/base/logger.ts";
import { Client } from "../../ts/client/mod.ts";
import { Load } from "./entities/load.ts";
import { openPlace } from "./entities/places.ts";
import { startWorker, type WorkerName, WORKERS } from "./entities/workers.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    entities: { type: "string", default: "1000" },
    messages: { type: "string", default: "100" },
    callers: { type: "string", default: "32" },
    on: { type: "string", default: "memory" },
    workers: { type: "string", default: "here" },
    events: { type: "string", default: "120" },
    cached: { type: "string", default: "1000" },
    minutes: { type: "string", default: "1000" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: entities [--on memory|sqlite|dev|server|ADDRESS] [--workers here|ours|official|ours,official] [--entities 1000] [--messages 100] [--callers 32] [--events 120] [--cached 1000] [--minutes N]\n\n" +
      "--on: an engine in memory or on a file, a `temporalex dev` or Temporal dev server that is started, or one that runs.\n" +
      "--workers: here: our worker in this process, with the native program. ours, official: our worker, and that of Temporal's SDK, each\n" +
      "  in a separate process, with the same program of @temporalio/workflow. With both, each has so many accounts and callers, at the same\n" +
      "  time on one server; when one of them is done, the other one stops.\n" +
      "--events: continue-as-new is suggested at so many (not on `temporalex dev`, which has its own limits). A message has about 11.\n" +
      "--cached: workflows in a worker's cache.\n" +
      "--minutes: no further message after so many; what was sent is judged.",
  );
  process.exit(0);
}
const number = (name: "entities" | "messages" | "callers" | "events" | "cached" | "minutes") =>
  Number(values[name]);
const names = values.workers.split(",").map((name) => {
  if (!WORKERS.includes(name as WorkerName)) {
    throw new Error(`--workers takes ${WORKERS.join(", ")}, not "${name}"`);
  }
  return name as WorkerName;
});

/** Longer than any call of the load waits. */
const STALLED_MS = 180_000;
const collect = (globalThis as { gc?: () => void }).gc;
function memory(): { heapMb: number; rssMb: number } {
  collect?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapMb: Math.round((heapUsed + external) / 1e5) / 10, rssMb: Math.round(rss / 1e6) };
}

// A server that was started ends with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const place = await openPlace(values.on, number("events"));
const lanes = await Promise.all(names.map(async (name) => {
  const taskQueue = `entities-${name}`;
  const worker = await startWorker(name, {
    ...place,
    address: place.address,
    taskQueue,
    cached: number("cached"),
  });
  const client = new Client({ service: place.service, taskQueue, logger: silentLogger });
  const type = name === "here" ? "UserAccount" : "userAccount";
  return {
    name,
    worker,
    load: new Load({
      client,
      type,
      name,
      entities: number("entities"),
      callers: number("callers"),
    }),
  };
}));
const began = performance.now();
const cpu = process.cpuUsage();
const tenth = Math.ceil(number("messages") / 10);
let done = false;
const over = () => done || performance.now() - began > number("minutes") * 60_000;
// A place that no longer responds is reported, and not waited for.
let progress = { sent: 0, at: began };
const stalled = setInterval(() => {
  const sent = lanes.reduce((sum, { load }) => sum + load.sent, 0);
  if (sent > progress.sent) progress = { sent, at: performance.now() };
  else if (performance.now() - progress.at > STALLED_MS) {
    console.error(
      `no message completed for ${STALLED_MS / 1000} s, after ${sent}: the server at ${
        place.address ?? values.on
      } is stuck`,
    );
    process.exit(1);
  }
}, 5000);
await Promise.all(lanes.map(async ({ name, worker, load }) => {
  for (let i = 0, reportAt = 0; i < number("messages") && !over(); i++) {
    await load.round(i, over);
    if (performance.now() < reportAt && (i + 1) % tenth !== 0) continue;
    reportAt = performance.now() + 10_000;
    const figures = {
      generation: await load.generation(),
      sent: load.sent,
      ...memory(),
      workerRssMb: worker.rssMb(),
    };
    console.log(
      JSON.stringify({ worker: name, round: i, ...figures, problems: load.problems.length }),
    );
  }
  done = true;
}));
clearInterval(stalled);
const seconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(cpu);
let failed = false;
for (const { name, worker, load } of lanes) {
  const spent = worker.cpu();
  const generations = await load.judge();
  const { sent, repeated, problems } = load;
  failed ||= problems.length > 0;
  console.log(JSON.stringify({
    ...{
      on: values.on,
      worker: name,
      entities: number("entities"),
      messages: sent,
      repeated,
      generations,
    },
    ...{ seconds: Math.round(seconds), perSecond: Math.round(10 * sent / seconds) / 10 },
    ...(spent === undefined ? { cpuSeconds: Math.round((user + system) / 1e6) } : {
      workerCpuMsPerMessage: Math.round(100 * 1000 * spent / sent) / 100,
      workerRssMb: worker.rssMb(),
    }),
    ...{ slowestMs: Math.round(load.slowestMs), ...memory(), problems },
  }));
}
await Promise.all(lanes.map(({ worker }) => worker.stop()));
await place.close();
process.exit(failed ? 1 : 0);
