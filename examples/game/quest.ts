// A quest that ends with the first of two events. It subscribes to them, so the game broadcasts
// what happens and need not know which quests there are.
import { on, payload, select, signals, subscribe, workflow } from "temporalex/workflow";

export interface QuestInit {
  readonly targetEnemy: string;
  readonly targetItem: number;
}

export const questSignals = signals({
  enemyKilled: payload<[enemy: string]>(), // "enemy_killed"
  itemCollected: payload<[item: number]>(),
});

export const quest = workflow("Quest", async ({ targetEnemy, targetItem }: QuestInit) => {
  subscribe(questSignals.enemyKilled, targetEnemy);
  subscribe(questSignals.itemCollected, targetItem);
  const by = await select([
    on(questSignals.enemyKilled, ([enemy]) => `the ${enemy} is dead`),
    on(questSignals.itemCollected, ([item]) => `item ${item} is found`),
  ]);
  return { completed: true, by };
});
