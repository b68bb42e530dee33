// A fight, blow by blow: each changes the game's own tables in the transaction that commits the
// step, so that what a player sees and what the fight knows is never apart. Between two blows the
// target may flee.
import {
  on,
  payload,
  reducers,
  select,
  signals,
  timer,
  timers,
  transact,
  workflow,
} from "temporalex/workflow";

export interface CombatInit {
  readonly targetId: number;
  /** Damage of one blow. */
  readonly damage: number;
  /** After so many the attacker retreats. */
  readonly blows: number;
}

export interface CombatResult {
  readonly outcome: "victory" | "fled" | "gave up";
  readonly blows: number;
}

const { applyDamage, spawnEffect, logCombatEvent } = reducers<
  typeof import("./combat_tables.ts")
>();

export const combatTimers = timers("delay");
export const combatSignals = signals({ flee: payload() });

export const combat = workflow(
  "Combat",
  async ({ targetId, damage, blows }: CombatInit): Promise<CombatResult> => {
    for (let blow = 1; blow <= blows; blow++) {
      const hp = await transact(applyDamage, targetId, damage); // what is left of it
      transact(spawnEffect, targetId, "hit"); // done and forgotten, in the order of the lines
      transact(logCombatEvent, targetId, "attack");
      if (hp === 0) return { outcome: "victory", blows: blow };
      const fled = await select([
        timer(combatTimers.delay, "1s", () => false),
        on(combatSignals.flee, () => true),
      ]);
      if (fled) {
        await transact(logCombatEvent, targetId, "flight");
        return { outcome: "fled", blows: blow };
      }
    }
    return { outcome: "gave up", blows };
  },
);
