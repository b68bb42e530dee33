// A project of workflows with database tables that uses every construct, and the histories of its
// runs. They are recorded on an engine in memory with manual timers, so that the order of events is
// fixed.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const REDUCERS = `import type { Database } from "temporalex";

export function strike(database: Database, npc: number, amount: number): { hp: number } {
  const row = database.get<{ hp: number }>("UPDATE npc SET hp = max(0, hp - ?) WHERE id = ? RETURNING hp", amount, npc);
  if (row === undefined) throw new RangeError(\`npc \${npc} not found\`);
  return row;
}
export function logLine(database: Database, line: string): void {
  database.run("INSERT INTO log (line) VALUES (?)", line);
}
export function seal(database: Database, npc: number): string {
  database.run("INSERT INTO log (line) VALUES (?)", \`npc \${npc} is sealed\`);
  return "sealed";
}
`;

const WORKFLOWS = `import {
  broadcast,
  carry,
  on,
  payload,
  procedure,
  procedures,
  publishState,
  reducers,
  select,
  signals,
  signature,
  spawn,
  startChild,
  subscribe,
  timer,
  timers,
  transact,
  unsubscribe,
  workflow,
} from "temporalex/workflow";

const { logLine, seal, strike } = reducers<typeof import("./reducers.ts")>();

export const raidSignals = signals({
  threatDetected: payload<[{ enemy: string; strength: number }]>(), // "threat_detected"
  standDown: payload(),
});
export const raidTimers = timers("muster", "nightFall");
export const rules = procedures({ computeDamage: signature<[npc: number, power: number], number>() });

export const scout = workflow("Scout", async (area: string) => \`\${area} is quiet\`);

export const raid = workflow("Raid", async (npc: number) => {
  publishState({ stage: "musters", hp: 100 });
  transact(logLine, \`a raid on \${npc}\`);
  subscribe(raidSignals.threatDetected, "orc");
  await timer(raidTimers.muster, "90s");
  const report = await spawn(scout, "the gate");
  const second = await startChild(scout, { args: ["the well"], id: "scout-2" });
  const threat = await select([
    timer(raidTimers.nightFall, "8 hours", () => undefined),
    on(raidSignals.threatDetected, ([seen]) => seen),
  ]);
  const power = threat === undefined ? 1 : threat.strength;
  const damage = await procedure(rules.computeDamage, [npc, power], { timeout: "1 hour" });
  const { hp } = await transact(strike, npc, damage);
  publishState({ stage: "fights", hp });
  const missed = await transact(strike, 99, damage).then(() => "hit", (error: Error) => error.message);
  const kept = await transact.required(seal, npc);
  unsubscribe(raidSignals.threatDetected, "orc");
  const heard = await broadcast(raidSignals.standDown, undefined);
  return { report, well: await second.result(), missed, kept, heard };
});

export const watch = workflow("Watch", {
  carry: (_route: string[]) => ({ waypoint: 0, alarms: 0 }),
  round: (state, route) =>
    select([
      timer("arrival", "5s", () => carry({ ...state, waypoint: (state.waypoint + 1) % route.length })),
      on(raidSignals.threatDetected, () => carry({ ...state, alarms: state.alarms + 1 })),
      on(raidSignals.standDown, () => \`\${state.alarms} alarms\`),
    ]),
});
`;

/** The project on disk when its runs were started. */
export const project: { readonly [path: string]: string } = {
  "src/reducers.ts": REDUCERS,
  "src/workflows.ts": WORKFLOWS,
};

/** The line of the workflows' file with a text. */
export const lineOf = (text: string): number =>
  WORKFLOWS.split("\n").findIndex((line) => line.includes(text)) + 1;

// deno-lint-ignore no-explicit-any
type Loose = any;

// The reducers of the project's file, repeated here because this process does not load TypeScript.
function strike(database: Loose, npc: number, amount: number): unknown {
  const row = database.get(
    "UPDATE npc SET hp = max(0, hp - ?) WHERE id = ? RETURNING hp",
    amount,
    npc,
  );
  if (row === undefined) throw new RangeError(`npc ${npc} not found`);
  return row;
}
function logLine(database: Loose, line: string): void {
  database.run("INSERT INTO log (line) VALUES (?)", line);
}
function seal(database: Loose, npc: number): string {
  database.run("INSERT INTO log (line) VALUES (?)", `npc ${npc} is sealed`);
  return "sealed";
}

const MIGRATIONS = [{
  name: "001",
  sql:
    "CREATE TABLE npc (id INTEGER PRIMARY KEY, hp INTEGER NOT NULL); CREATE TABLE log (id INTEGER PRIMARY KEY, line TEXT NOT NULL);" +
    "INSERT INTO npc (id, hp) VALUES (7, 100);",
}];

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let n = 0; n < 500; n++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`not so after ten seconds: ${what}`);
}

/** The exports of a completed raid, and of a watch whose first run continued as new. */
export async function exported(): Promise<{ readonly raid: string; readonly watch: string }> {
  const dist = (path: string) =>
    pathToFileURL(fileURLToPath(new URL(`../../../dist/ts/${path}`, import.meta.url))).href;
  const { open, silentLogger }: Loose = await import(dist("mod.js"));
  const folder = mkdtempSync(join(tmpdir(), "raid-"));
  let app: Loose;
  try {
    for (const [path, text] of Object.entries(project)) {
      writeFileSync(join(folder, path.replace("src/", "")), text);
    }
    app = await open({
      workflows: pathToFileURL(join(folder, "workflows.ts")),
      reducers: { logLine, seal, strike },
      migrations: MIGRATIONS,
      engine: { timers: "manual", limits: { suggestContinueAsNewEvents: 13 } },
      logger: silentLogger,
    });
    const { client, engine } = app;
    const fires = (id: string, name: string) =>
      until(
        `${id} has timer ${name}`,
        () => engine.fireTimer(id, name).then(() => true, () => false),
      );
    const watched = await client.start("Watch", { id: "watch-1", args: [["gate", "well"]] });
    const rounds = (count: number) =>
      until(
        `round ${count} waits`,
        async () => (await watched.historyJson()).split("TIMER_STARTED").length > count,
      );
    await fires("watch-1", "arrival");
    await rounds(2);
    await watched.signal("threat_detected", { enemy: "elf", strength: 1 });
    const raided = await client.start("Raid", { id: "raid-1", args: [7] });
    await fires("raid-1", "muster");
    await until(
      "it waits for the night",
      async () => (await raided.historyJson()).split("TIMER_STARTED").length > 2,
    );
    await until(
      "the well is quiet",
      async () =>
        /CHILD_WORKFLOW_EXECUTION_COMPLETED[^]*CHILD_WORKFLOW_EXECUTION_COMPLETED/.test(
          await raided.historyJson(),
        ),
    );
    await client.broadcast("threat_detected", "orc", { enemy: "orc", strength: 12 });
    await until("it asks", async () => (await raided.procedures()).length > 0);
    await raided.completeProcedure({ name: "compute_damage" }, 30);
    await raided.result();
    const first = client.getHandle(undefined, "watch-1", watched.runId);
    await until(
      "the watch has continued",
      async () => /CONTINUED_AS_NEW/.test(await first.historyJson()),
    );
    return { raid: await raided.historyJson(), watch: await first.historyJson() };
  } finally {
    await app?.close();
    rmSync(folder, { recursive: true });
  }
}
