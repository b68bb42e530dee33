// `npm start`: an application on the embedded engine is killed with SIGKILL twice, once while an
// activity runs and once between two phases, is restarted each time, and continues as if nothing
// had happened. Its history is then replayed in a fresh core.
import { fork } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { fromJsonString, toBinary } from "@bufbuild/protobuf";
import { createWorkerRealm } from "../../ts/realm/mod.ts";
import { HistorySchema } from "../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import type { Ask, Tell } from "./app.ts";

const HELP = `usage: npm start [-- --json]

Runs the shopping cart of examples/shopping_cart on a SQLite file, kills its process twice (kill -9)
and continues the workflow each time. The store and the exported history stay in ./.temporalex-start/
until the next start.

--json  print a summary object as the last line`;
const args = new Set(process.argv.slice(2));
const unknown = [...args].filter((arg) => !["--json", "--help", "-h"].includes(arg));
if (unknown.length > 0) {
  console.error(`Unknown argument '${unknown[0]}'\n\n${HELP}`);
  process.exit(2);
}
if (args.has("--help") || args.has("-h")) {
  console.log(HELP);
  process.exit(0);
}
const json = args.has("--json");
const color = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code: number, s: string) => (color ? `\x1b[${code}m${s}\x1b[0m` : s);
const t0 = performance.now();
const line = (mark: string, text: string) =>
  console.log(`${((performance.now() - t0) / 1000).toFixed(2).padStart(6)} s  ${mark} ${text}`);

const dir = join(process.cwd(), ".temporalex-start");
rmSync(dir, { recursive: true, force: true });
mkdirSync(dir, { recursive: true });
const store = join(dir, "shop.sqlite");
const historyFile = join(dir, "cart-42.history.json");
const id = "cart-42";

/** The child process: its requests, responses and the activities that it reports. */
class App {
  readonly #child;
  readonly #waiting = new Map<
    number,
    { resolve: (v: unknown) => void; reject: (e: Error) => void }
  >();
  readonly #exit: Promise<void>;
  #next = 1;
  onActivity: (a: Extract<Tell, { tell: "activity" }>) => void = () => {};
  readonly ready: Promise<void>;

  constructor() {
    this.#child = fork(fileURLToPath(new URL("./app.js", import.meta.url)), [store, id], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    let ready!: () => void;
    let failed!: (e: Error) => void;
    this.ready = new Promise<void>((resolve, reject) => ((ready = resolve), (failed = reject)));
    this.#exit = new Promise((resolve) =>
      this.#child.on("exit", (code, signal) => {
        failed(new Error(`the application ended before it was ready (${signal ?? code})`));
        for (const w of this.#waiting.values()) w.reject(new Error("the application was killed"));
        this.#waiting.clear();
        resolve();
      })
    );
    this.#child.on("message", (message) => {
      const m = message as Tell;
      if (m.tell === "ready") ready();
      else if (m.tell === "activity") this.onActivity(m);
      else {
        const waiting = this.#waiting.get(m.ask);
        this.#waiting.delete(m.ask);
        if (m.error === undefined) waiting?.resolve(m.value);
        else waiting?.reject(new Error(m.error));
      }
    });
  }

  ask<T>(request: Ask): Promise<T> {
    const ask = this.#next++;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(ask, { resolve: resolve as (v: unknown) => void, reject });
      this.#child.send({ ask, request });
    });
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exit;
  }

  async end(): Promise<void> {
    this.#child.disconnect();
    await this.#exit;
  }
}

const attempts = new Map<string, { runs: number; keys: Set<string> }>();
const watch = (app: App, on: (a: Extract<Tell, { tell: "activity" }>) => void = () => {}) => {
  app.onActivity = (a) => {
    const seen = attempts.get(a.name) ?? { runs: 0, keys: new Set() };
    attempts.set(a.name, seen);
    if (a.phase === "started") {
      seen.runs++;
      seen.keys.add(a.key);
      line(
        "·",
        `activity ${a.name} ${
          a.attempt > 1
            ? paint(33, `runs again (attempt ${a.attempt}, same idempotency key ${a.key})`)
            : "runs"
        }`,
      );
    } else line("·", `activity ${a.name} done`);
    on(a);
  };
};

/** Starts the application again after a kill. */
async function again(): Promise<App> {
  const app = new App();
  watch(app);
  await app.ready;
  line(
    paint(32, "▲"),
    `started again as process ${app.pid}; the run was loaded from ${paint(2, "shop.sqlite")}`,
  );
  return app;
}

console.log(
  "A shopping cart as one durable function, on a SQLite file. Its process is killed twice.\n",
);
let app = new App();
let charging!: () => void;
const chargeStarted = new Promise<void>((resolve) => (charging = resolve));
watch(app, (a) => void (a.name === "charge" && a.phase === "started" && charging()));
await app.ready;
line(paint(32, "▲"), `process ${app.pid} is up: engine, worker and activities`);

await app.ask({ op: "start" });
line("→", `started workflow ${id}`);
for (const item of [{ sku: "BOOK-1", priceCents: 1900 }, { sku: "PEN-2", priceCents: 250 }]) {
  line(
    "→",
    `update add_item ${item.sku}: the cart returns ${
      JSON.stringify(await app.ask({ op: "add", item }))
    }`,
  );
}
const refusal = await app.ask({ op: "add", item: { sku: "???", priceCents: 1 } }).then(
  () => "accepted",
  (e: Error) => e.message,
);
line("→", `update add_item ???: refused before it entered history (${refusal})`);
await app.ask({ op: "checkout" });
line("→", "signal checkout: the cart stops taking items and charges");

await chargeStarted;
await new Promise((resolve) => setTimeout(resolve, 100));
await app.kill();
line(paint(31, "✗"), paint(31, "kill -9 while the activity charge was running"));
app = await again();

const phase = async () => (await app.ask<{ phase: string } | undefined>({ op: "status" }))?.phase;
while ((await phase()) !== "confirming") await new Promise((resolve) => setTimeout(resolve, 50));
const eventsBefore = await app.ask<number>({ op: "length" });
line(
  "·",
  `query status: ${JSON.stringify(await app.ask({ op: "status" }))} after ${eventsBefore} events`,
);
await app.kill();
line(paint(31, "✗"), paint(31, "kill -9 between two phases"));
app = await again();
line(
  "·",
  `query status: ${
    JSON.stringify(await app.ask({ op: "status" }))
  } (replayed from ${eventsBefore} events, no activity ran again)`,
);

line("→", `update confirm: the cart returns ${JSON.stringify(await app.ask({ op: "confirm" }))}`);
const result = await app.ask<unknown>({ op: "result" });
line(paint(32, "✓"), `result ${paint(1, JSON.stringify(result))}`);
const history = await app.ask<string>({ op: "history" });
writeFileSync(historyFile, history);
await app.end();

const read = fromJsonString(HistorySchema, history);
const realm = await createWorkerRealm({
  workflows: new URL("../shopping_cart/workflow.ts", import.meta.url),
});
const verdict = await realm.replay(id, toBinary(HistorySchema, read));
await realm.dispose();
line(
  verdict.verdict === "ok" ? paint(32, "✓") : paint(31, "✗"),
  `replayed ${read.events.length} events in a fresh core: ${verdict.verdict}`,
);
const charge = attempts.get("charge")!;
console.log(
  `\nTwo kills; nothing acknowledged was lost. charge ran ${charge.runs} times under ${charge.keys.size} idempotency key. History: ${historyFile}`,
);
if (json) {
  console.log(
    JSON.stringify({
      result,
      kills: 2,
      eventsBefore,
      eventsAfter: read.events.length,
      replay: verdict.verdict,
      historyFile,
    }),
  );
}
process.exitCode = verdict.verdict === "ok" ? 0 : 1;
