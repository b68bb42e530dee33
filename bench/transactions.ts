// Application transactions, next to reducers and to plain SQLite transactions of the same row. In
// turn on one file each, engine and worker in this process. JSON on standard output: transactions per
// second, processor time, and ratios of one round.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { silentLogger } from "../ts/client/mod.ts";
import { openFile } from "../ts/engine/sqlite/open.ts";
import { type App, open } from "../ts/mod.ts";
import { count, options, spread } from "./lib/measure.ts";
import { counts, said, writes } from "./transactions/programs.ts";
import * as reducers from "./transactions/reducers.ts";

const HELP = `usage: npm run bench -- transactions [options]

Compares application transactions with reducers and with plain SQLite transactions of the same row.
Prints JSON: transactions per second, CPU time, and ratios.

--rounds=N     rounds of all kinds, after a warm-up round (default 5)
--count=N      transactions of each kind (default 2000)
--batch=N      concurrent transactions, which share a commit (default 50)
--workflows=N  workflows that receive signals (default 20)

Example: npm run bench -- transactions --rounds=1 --count=200
Exit code: 0 measured; 1 an invalid option, or a transaction failed.`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const given = options(args, { rounds: "5", count: "2000", batch: "50", workflows: "20" });
const rounds = count("rounds", given.rounds), total = count("count", given.count);
const batch = count("batch", given.batch), recipients = count("workflows", given.workflows);

const TABLE = "CREATE TABLE line (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)";

/** Runs `one` for each number, `batch` at a time. */
async function inBatches(one: (i: number) => Promise<unknown>): Promise<void> {
  for (let i = 0; i < total; i += batch) {
    const size = Math.min(batch, total - i);
    await Promise.all(Array.from({ length: size }, (_, j) => one(i + j)));
  }
}

async function withApp(body: (app: App) => Promise<void>, folder: string): Promise<void> {
  const app = await open({
    path: join(folder, "store.sqlite"),
    workflows: new URL("./transactions/programs.ts", import.meta.url),
    reducers,
    migrations: [{ name: "001", sql: TABLE }],
    logger: silentLogger,
    serve: false,
  });
  try {
    await body(app);
  } finally {
    await app.close();
  }
}

type Work = (folder: string, timed: (work: () => Promise<void>) => Promise<void>) => Promise<void>;

const plain = (perCommit: number): Work => async (folder, timed) => {
  const { database, fence } = openFile(join(folder, "plain.sqlite"), {});
  database.exec(TABLE);
  const insert = database.prepare("INSERT INTO line (n) VALUES (?)");
  await timed(() => {
    for (let i = 0; i < total; i += perCommit) {
      database.exec("BEGIN IMMEDIATE");
      for (let j = i; j < Math.min(i + perCommit, total); j++) insert.run([j]);
      database.exec("COMMIT");
    }
    return Promise.resolve();
  });
  database.close();
  fence.release();
};

const KINDS = {
  /** A commit for each row. */
  plain: plain(1),
  /** A commit for each batch of rows. */
  plainBatched: plain(batch),
  /** Rows of application transactions; those of a batch share a commit. */
  rows: (folder, timed) =>
    withApp(
      (app) =>
        timed(() =>
          inBatches((i) => app.transaction((db) => db.run("INSERT INTO line (n) VALUES (?)", i)))
        ),
      folder,
    ),
  /** The same with a signal to a workflow, which takes it. */
  rowsAndSignals: (folder, timed) =>
    withApp(async (app) => {
      const ids = Array.from({ length: recipients }, (_, i) => `counts-${i}`);
      await app.transaction((_, workflows) => {
        for (const id of ids) workflows.start(counts, { id });
      });
      await timed(() =>
        inBatches((i) =>
          app.transaction((db, workflows) => {
            db.run("INSERT INTO line (n) VALUES (?)", i);
            workflows.signal(ids[i % recipients]!, said);
          })
        )
      );
    }, folder),
  /** Rows of reducers, each awaited by one of `batch` workflows. */
  reducers: (folder, timed) =>
    withApp((app) =>
      timed(async () => {
        const each = Math.ceil(total / batch);
        const run = (_: unknown, i: number) =>
          app.client.execute(writes, { id: `writes-${i}`, args: [each] });
        await Promise.all(Array.from({ length: batch }, run));
      }), folder),
} satisfies { readonly [kind: string]: Work };

type Kind = keyof typeof KINDS;
const names = Object.keys(KINDS) as Kind[];

/** Per second by the clock, and microseconds of processor time of this process for each. */
async function measure(kind: Kind): Promise<{ perSecond: number; cpu: number }> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-bench-"));
  let found = { perSecond: 0, cpu: 0 };
  try {
    await KINDS[kind](folder, async (work) => {
      const [began, used] = [performance.now(), process.cpuUsage()];
      await work();
      const { user, system } = process.cpuUsage(used);
      const seconds = (performance.now() - began) / 1000;
      found = { perSecond: total / seconds, cpu: (user + system) / total };
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return found;
}

const results = new Map<Kind, { perSecond: number; cpu: number }[]>(
  names.map((kind) => [kind, []]),
);
for (let i = 0; i <= rounds; i++) {
  for (const kind of names) {
    const result = await measure(kind);
    if (i > 0) results.get(kind)!.push(result);
  }
}
const ratio = (of: Kind, to: Kind) =>
  spread(results.get(of)!.map(({ perSecond }, i) => perSecond / results.get(to)![i]!.perSecond));
console.log(JSON.stringify(
  {
    ...{ count: total, batch, workflows: recipients },
    perSecond: Object.fromEntries(
      names.map((kind) => [kind, spread(results.get(kind)!.map((each) => each.perSecond))]),
    ),
    cpuMicroseconds: Object.fromEntries(
      names.map((kind) => [kind, spread(results.get(kind)!.map(({ cpu }) => cpu))]),
    ),
    rowsOverPlain: ratio("rows", "plain"),
    rowsOverPlainBatched: ratio("rows", "plainBatched"),
    rowsOverReducers: ratio("rows", "reducers"),
    rowsAndSignalsOverRows: ratio("rowsAndSignals", "rows"),
  },
  undefined,
  2,
));
