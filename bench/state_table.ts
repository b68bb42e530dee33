// The same job as rows with a state column and a poller, and as workflows: tasks of timed steps
// with retries. Each on a separate SQLite file, by the same library with the same settings, in a
// separate process; then again with kill -9 halfway. JSON on standard output.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { openFile } from "../ts/engine/sqlite/open.ts";
import { open, silentLogger, WorkflowExecutionAlreadyStartedError } from "../ts/mod.ts";
import { count, options, round, spread } from "./lib/measure.ts";
import { effect, TABLES } from "./state_table/effect.ts";
import { runTable } from "./state_table/table.ts";
import { timedSteps } from "./state_table/workflows.ts";

const HELP = `usage: npm run bench -- state_table [options]

Runs the same timed steps as rows with a state column and a poller, and as workflows; then again
with kill -9 halfway. Each uses a separate SQLite file. Prints JSON.

--rounds=N   rounds of all kinds (default 5)
--tasks=N    concurrent tasks (default 50)
--steps=N    steps of each task (default 20)
--delay=MS   delay before each step, in milliseconds (default 50)

Example: npm run bench -- state_table --rounds=1 --tasks=10
Exit code: 0 measured; 1 an invalid option, or a run failed.`;

const args = process.argv.slice(2);
if (args.includes("--help")) {
  console.log(HELP);
  process.exit(0);
}
const given = options(args, {
  rounds: "5",
  tasks: "50",
  steps: "20",
  delay: "50",
  child: "",
  path: "",
});
const [tasks, steps, delay] = [
  count("tasks", given.tasks),
  count("steps", given.steps),
  count("delay", given.delay),
];
/** Milliseconds between polls; undefined: workflows. */
const KINDS: { readonly [name: string]: number | undefined } = {
  "table, 1 s": 1000,
  "table, 10 ms": 10,
  workflows: undefined,
};

async function runWorkflows(path: string): Promise<number> {
  const app = await open({
    path,
    workflows: new URL("./state_table/workflows.ts", import.meta.url),
    reducers: { effect },
    migrations: [{ name: "001", sql: TABLES }],
    engine: { synchronous: "NORMAL" },
    logger: silentLogger,
    serve: false,
  });
  // The realm is there and has run the code once; rows below 0 are not counted.
  await app.client.execute(timedSteps, { id: "warm", args: [-1, 2, 1] });
  const ms = await timed(() =>
    Promise.all(Array.from({ length: tasks }, async (_, task) => {
      const id = `task-${task}`;
      // In a file that was left in the middle it is there already.
      await app.client.start(timedSteps, {
        id,
        args: [task, steps, delay],
        idReusePolicy: "REJECT_DUPLICATE",
      })
        .catch((error: Error) => {
          if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
        });
      await app.client.getHandle(timedSteps, id).result();
    }))
  );
  await app.close();
  return ms;
}

/** Milliseconds of the job itself; the parent process counts from "began". */
async function timed(job: () => Promise<unknown>): Promise<number> {
  console.log("began");
  const began = performance.now();
  await job();
  return performance.now() - began;
}

/** One run in a separate process, killed `killMs` after its start; returns its milliseconds. */
function runChild(kind: string, path: string, killMs?: number): Promise<number> {
  const sizes = [`--tasks=${tasks}`, `--steps=${steps}`, `--delay=${delay}`];
  const child = spawn(process.execPath, [
    fileURLToPath(import.meta.url),
    `--child=${kind}`,
    `--path=${path}`,
    ...sizes,
  ], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk: Uint8Array) => {
    text += String(chunk);
    if (killMs !== undefined && text.startsWith("began")) {
      setTimeout(() => child.kill("SIGKILL"), killMs);
    }
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code) => {
      if (code !== 0 && killMs === undefined) reject(new Error(`${kind} ended with ${code}`));
      else resolve(Number(text.split("\n")[1] ?? 0));
    });
  });
}

interface Measured {
  readonly stepsPerSecond: number;
  readonly p50: number;
  readonly p99: number;
  readonly bytesPerStep: number;
  /** Of the steps, those done when it was killed. */
  readonly shareAtKill: number;
  readonly lostAtKill: number;
  readonly twiceAtKill: number;
}

const inFile = <Row>(path: string, sql: string): Row[] => {
  const { database, fence } = openFile(path, {});
  try {
    return database.prepare(sql).all([]) as unknown as Row[];
  } finally {
    database.close();
    fence.release();
  }
};

async function measure(kind: string): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "temporalex-bench-"));
  try {
    const path = join(folder, "plain.sqlite"), killed = join(folder, "killed.sqlite");
    const ms = await runChild(kind, path);
    const late = inFile<{ late: number }>(
      path,
      "SELECT late FROM effect WHERE task >= 0 ORDER BY late",
    ).map((row) => row.late);
    await runChild(kind, killed, ms / 2);
    const [before] = inFile<{ rows: number }>(
      killed,
      "SELECT count(*) AS rows FROM effect WHERE task >= 0",
    );
    await runChild(kind, killed);
    const [done] = inFile<{ rows: number; steps: number }>(
      killed,
      "SELECT count(*) AS rows, count(DISTINCT task * 1000000 + step) AS steps FROM effect WHERE task >= 0",
    );
    return {
      stepsPerSecond: tasks * steps / ms * 1000,
      p50: late[late.length >> 1]!,
      p99: late[Math.floor(late.length * 0.99)]!,
      bytesPerStep: statSync(path).size / (tasks * steps),
      shareAtKill: before!.rows / (tasks * steps),
      lostAtKill: tasks * steps - done!.steps,
      twiceAtKill: done!.rows - done!.steps,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Lines with code; the sources are next to dist/. */
const linesOf = (name: string): number =>
  readFileSync(new URL(`../../bench/state_table/${name}`, import.meta.url), "utf8").split("\n")
    .filter((line) => line.trim() !== "" && !/^\s*(\/\/|\/\*\*|import )/.test(line)).length;

if (given.child !== "") {
  const pollMs = KINDS[given.child];
  const table = (ms: number) => timed(() => runTable(given.path, tasks, steps, delay, ms));
  console.log(String(await (pollMs === undefined ? runWorkflows(given.path) : table(pollMs))));
} else {
  const found = new Map<string, Measured[]>(Object.keys(KINDS).map((kind) => [kind, []]));
  for (let i = 0; i < count("rounds", given.rounds); i++) {
    for (const [kind, all] of found) all.push(await measure(kind));
  }
  const fields = [
    "stepsPerSecond",
    "p50",
    "p99",
    "bytesPerStep",
    "shareAtKill",
    "lostAtKill",
    "twiceAtKill",
  ] as const;
  const kinds = [...found].map(([kind, all]) =>
    [
      kind,
      Object.fromEntries(fields.map((field) => [field, spread(all.map((one) => one[field]))])),
    ] as const
  );
  const lines = { table: linesOf("table.ts"), workflows: linesOf("workflows.ts") };
  const ideal = round(tasks * steps / ((steps + steps / 10) * delay) * 1000);
  console.log(
    JSON.stringify(
      { tasks, steps, delay, ideal, lines, ...Object.fromEntries(kinds) },
      undefined,
      2,
    ),
  );
}
