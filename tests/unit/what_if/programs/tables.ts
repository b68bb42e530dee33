// Workflows with tables: reducers whose results decide how they continue, a procedure, a broadcast,
// named timers.
import {
  broadcast,
  on,
  payload,
  procedure,
  procedures,
  publishState,
  reducers,
  select,
  signals,
  signature,
  sleep,
  subscribe,
  timer,
  transact,
  unsubscribe,
  workflow,
} from "../../../../ts/workflow/mod.ts";
import type { Database } from "../../../../ts/mod.ts";

interface Reduced {
  strike(database: Database, npc: number, amount: number): { hp: number };
  logLine(database: Database, line: string): void;
}
const { logLine, strike } = reducers<Reduced>();

export const raidSignals = signals({
  standDown: payload<[by: string]>(),
  strength: payload<[amount: number]>(),
});
export const rules = procedures({
  computeDamage: signature<[npc: number, power: number], number>(),
});

/** Strikes until the other falls; each blow is as hard as the last signal said. */
export const duel = workflow("Duel", async (npc: number) => {
  transact(logLine, `a duel with ${npc}`);
  let power = 30;
  for (let blow = 1; blow <= 5; blow++) {
    await select([
      timer("delay", "1s", () => undefined),
      on(raidSignals.strength, ([amount]) => void (power = amount)),
    ]);
    const { hp } = await transact(strike, npc, power);
    if (hp === 0) return `won after ${blow}`;
  }
  return "gave up";
});

/** All constructs, one after the other. */
export const raid = workflow("Raid", async (npc: number) => {
  publishState("fights");
  transact(logLine, "a raid");
  subscribe(raidSignals.standDown, "orc");
  await timer("muster", "90s");
  await sleep("1s", { summary: "waits for SECRET of grace" });
  const damage = await procedure(rules.computeDamage, [npc, 7]);
  const { hp } = await transact(strike, npc, damage);
  const missed = await transact(strike, 99, 1).then(() => "", (error: Error) => error.message);
  const kept = await transact.required(strike, npc, 1);
  unsubscribe(raidSignals.standDown, "orc");
  const heard = await broadcast(raidSignals.standDown, "elf", "grace");
  await timer("SECRET_name", "1s");
  return { hp, missed, left: kept.hp, heard };
});
