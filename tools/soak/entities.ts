// Many accounts of examples/entity under load: `node --expose-gc dist/tools/soak/entities.js` (or with Deno). Every account gets messages
// of all kinds, some of them twice and some at once, over many generations; then each of them is asked what it has seen. One JSON line
// now and then, and one at the end; exit code 1 when a message was lost, an update was carried out twice, or one was not answered.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { accountOf, saveProfile } from "../../examples/entity/accounts.ts";
import * as activities from "../../examples/entity/activities.ts";
import { getHealth, getState, reactivate, type Receipt, suspend } from "../../examples/entity/workflow.ts";
import { DevServer } from "../../tests/interop/support/dev_server.ts";
import { silentLogger } from "../../ts/base/logger.ts";
import { Client } from "../../ts/client/mod.ts";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import { GrpcService } from "../../ts/grpc/grpc_service.ts";
import type { RawService } from "../../ts/service/raw.ts";
import { Worker } from "../../ts/worker/mod.ts";

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    entities: { type: "string", default: "1000" },
    messages: { type: "string", default: "100" },
    callers: { type: "string", default: "32" },
    on: { type: "string", default: "memory" },
    events: { type: "string", default: "120" },
    cached: { type: "string", default: "1000" },
    minutes: { type: "string", default: "1000" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "usage: entities [--on memory|sqlite|server|ADDRESS] [--entities 1000] [--messages 100] [--callers 32] [--events 120] [--cached 1000] [--minutes N]\n\n" +
      "--on: an engine in memory or on a file, a Temporal dev server that is started, or one that runs.\n" +
      "--events: continue-as-new is suggested at so many. A message has about 11.\n--cached: workflows in the worker's cache.\n" +
      "--minutes: no further message after so many; what was sent is judged.",
  );
  process.exit(0);
}
const [entities, messages, callers, events, cached] = [
  values.entities,
  values.messages,
  values.callers,
  values.events,
  values.cached,
]
  .map(Number) as [number, number, number, number, number];

interface Place {
  readonly service: RawService;
  close(): Promise<void>;
}

async function open(): Promise<Place> {
  if (values.on === "memory" || values.on === "sqlite") {
    const folder = mkdtempSync(join(tmpdir(), "temporalex-entities-"));
    const store = values.on === "memory" ? { store: new MemoryStore() } : { path: join(folder, "store.sqlite") };
    const engine = await EmbeddedEngine.open({ ...store, limits: { suggestContinueAsNewEvents: events } });
    const close = async () => {
      await engine.close();
      rmSync(folder, { recursive: true, force: true });
    };
    return { service: engine, close };
  }
  const server = values.on === "server"
    ? await DevServer.start([
      `limit.historyCount.suggestContinueAsNew=${events}`,
      // A dev server has one shard, whose limits are those of one of a cluster's hundreds.
      ...["frontend.rps", "frontend.namespaceRPS", "history.rps", "matching.rps", "frontend.persistenceMaxQPS"],
      ...["history.persistenceMaxQPS", "matching.persistenceMaxQPS", "system.visibilityPersistenceMaxWriteQPS"],
      ...["transfer", "timer", "visibility", "outbound"].map((queue) => `history.${queue}ProcessorMaxPollRPS`),
    ].map((key) => key.includes("=") ? key : `${key}=1000000`))
    : undefined;
  const service = new GrpcService({ address: server?.address ?? values.on! });
  return { service, close: async () => (service.close(), await server?.stop()) };
}

/** What one account must have seen. */
interface Expected {
  readonly userId: string;
  operations: number;
  /** Answers by update id. */
  readonly answers: Map<string, Receipt>;
  last: string;
}

const problems: string[] = [];
const wrong = (text: string) => void (problems.length < 20 ? problems.push(text) : problems.length++);
let sent = 0;
let repeated = 0;
let slowest = 0;

async function update(client: Client, account: Expected, id: string, name: string): Promise<void> {
  const began = performance.now();
  const known = account.answers.get(id);
  const answer = await saveProfile(client, account.userId, { name }, id).catch((error: Error) => error);
  slowest = Math.max(slowest, performance.now() - began);
  sent++;
  if (answer instanceof Error) return wrong(`${account.userId} ${id}: ${answer}`);
  if (known === undefined) account.answers.set(id, answer);
  else if (repeated++, answer.operation !== known.operation) {
    wrong(`${account.userId} ${id}: was operation ${known.operation}, and ${answer.operation} when it was sent again`);
  }
}

/** The i-th message of an account. */
async function message(client: Client, account: Expected, i: number): Promise<void> {
  const { userId } = account;
  switch (i % 10) {
    case 3:
    case 7:
      await accountOf(client, userId).signal(i % 10 === 3 ? suspend : reactivate);
      sent++;
      account.operations++;
      return;
    case 5: // three at once
      account.operations += 3;
      await Promise.all(["a", "b", "c"].map((part) => update(client, account, `u-${i}-${part}`, account.last = `${i}`)));
      return;
    case 9: { // one of long ago, as far as it is remembered, and one of just now
      const ids = [...account.answers.keys()];
      await Promise.all([ids.at(-900) ?? ids[0]!, ids.at(-1)!].map((id) => update(client, account, id, "sent again")));
      return;
    }
    default:
      account.operations++;
      return await update(client, account, `u-${i}`, account.last = `${i}`);
  }
}

const collect = (globalThis as { gc?: () => void }).gc;
function memory(): { heapMb: number; rssMb: number } {
  collect?.();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heapMb: Math.round((heapUsed + external) / 1e5) / 10, rssMb: Math.round(rss / 1e6) };
}

// A dev server that was started ends with this process.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
const place = await open();
const taskQueue = "entities";
const worker = await Worker.create({
  service: place.service,
  taskQueue,
  workflows: [new URL("../../examples/entity/workflow.ts", import.meta.url)],
  activities,
  cachedWorkflows: cached,
  logger: silentLogger,
});
const client = new Client({ service: place.service, taskQueue, logger: silentLogger });
await worker.runUntil(async () => {
  const accounts = Array.from({ length: entities }, (_, n): Expected => ({
    userId: `soak-${n}`,
    operations: 0,
    answers: new Map(),
    last: "",
  }));
  const began = performance.now();
  const cpu = process.cpuUsage();
  for (let i = 0, reportAt = 0; i < messages && performance.now() - began < Number(values.minutes) * 60_000; i++) {
    let next = 0;
    const caller = async () => {
      for (let account = accounts[next++]; account !== undefined; account = accounts[next++]) await message(client, account, i);
    };
    await Promise.all(Array.from({ length: callers }, caller));
    if (performance.now() < reportAt) continue;
    reportAt = performance.now() + 10_000;
    const { generation } = await accountOf(client, accounts[0]!.userId).query(getHealth);
    console.log(JSON.stringify({ round: i, generation, sent, ...memory(), problems: problems.length }));
  }
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  let generationsSeen = 0;
  const judge = async ({ userId, operations, last }: Expected) => {
    // A signal that was sent last may still be at work.
    const account = accountOf(client, userId);
    let health = await account.query(getHealth);
    for (let tries = 0; tries < 500 && health.operations < operations; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      health = await account.query(getHealth);
    }
    generationsSeen += health.generation;
    if (health.operations !== operations) wrong(`${userId}: ${health.operations} operations, ${operations} were expected`);
    const { profile } = await account.query(getState);
    if (profile?.name !== last) wrong(`${userId}: its profile is ${profile?.name}, and ${last} was sent last`);
  };
  const left = [...accounts];
  const judging = async () => {
    for (let account = left.pop(); account !== undefined; account = left.pop()) await judge(account);
  };
  await Promise.all(Array.from({ length: callers }, judging));
  console.log(JSON.stringify({
    ...{ on: values.on, entities, messages: sent, repeated, generations: generationsSeen },
    ...{ seconds: Math.round(seconds), perSecond: Math.round(sent / seconds), cpuSeconds: Math.round((user + system) / 1e6) },
    ...{ slowestMs: Math.round(slowest), ...memory(), problems },
  }));
});
await place.close();
process.exit(problems.length === 0 ? 0 : 1);
