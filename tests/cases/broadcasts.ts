// Subscriptions and broadcasts in workflow code: what is recorded, what is replayed, and which runs
// get it, on an engine in memory.
import { quest, questSignals } from "../../examples/game/quest.ts";
import { Client, silentLogger } from "../../ts/client/mod.ts";
import { groupEvents } from "../../ts/debug/run/grouping.ts";
import { EmbeddedEngine, MemoryStore } from "../../ts/engine/mod.ts";
import { Worker } from "../../ts/worker/mod.ts";
import {
  broadcast,
  subscribe,
  unsubscribe,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";
import { deepEqual, equal, throws } from "./assert.ts";
import type { Case } from "./case.ts";
import { drive } from "./driver.ts";

const fickle = workflow("Fickle", async () => {
  const seen: unknown[] = [];
  const now = () => seen.push(workflowInfo().searchAttributes["WorkflowSubscription"] ?? null);
  subscribe("a");
  subscribe("a");
  now();
  subscribe("b", 42);
  subscribe("b", true);
  now();
  unsubscribe("b", 42);
  unsubscribe("b", "never");
  now();
  unsubscribe("b");
  unsubscribe("a");
  now();
  throws(() => subscribe("a", ""), /a filter of subscriptions is a non-empty string/);
  throws(() => subscribe({} as never), /subscribe needs a signal or the name of a signal/);
  return await Promise.resolve(seen);
});

const herald = workflow(
  "Herald",
  async (enemy: string) => await broadcast(questSignals.enemyKilled, enemy, enemy),
);

async function until(check: () => Promise<boolean>): Promise<void> {
  for (let i = 0; !(await check()); i++) {
    if (i > 5000) throw new Error("it did not happen");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export const cases: Case[] = [
  {
    name:
      "subscriptions are a keyword list: each change is one command; an unchanged list sends no command",
    async run() {
      const d = await drive(fickle);
      await d.task();
      deepEqual(await d.finish(), [
        ["a"],
        ["a", "b:", "b:42", "b:true"],
        ["a", "b:", "b:true"],
        null,
      ]);
      const upserts = d.server.events.filter(({ attributes: at }) =>
        at.case === "upsertWorkflowSearchAttributesEventAttributes"
      );
      equal(upserts.length, 6);
      // In the debugger they have their names.
      deepEqual(
        groupEvents(d.server.events).items.filter(({ kind }) => kind === "searchAttributes").map((
          { name },
        ) => name),
        [
          "subscribe a",
          "subscribe b:42",
          "subscribe b:true",
          "unsubscribe b:42",
          "unsubscribe b:true",
          "unsubscribe a",
        ],
      );
    },
  },
  {
    name:
      "a quest receives broadcasts of a client and of workflow code, and no broadcast after its end",
    async run() {
      const engine = await EmbeddedEngine.open({ store: new MemoryStore() });
      try {
        const worker = await Worker.create({
          service: engine,
          taskQueue: "q",
          workflows: [quest, herald],
          logger: silentLogger,
        });
        const client = new Client({ service: engine, taskQueue: "q", logger: silentLogger });
        await worker.runUntil(async () => {
          const start = (id: string, targetEnemy: string, targetItem: number) =>
            client.start(quest, { id, args: [{ targetEnemy, targetItem }] });
          const [orc, elf] = await Promise.all([start("orc", "orc", 1), start("elf", "elf", 1)]);
          await until(async () =>
            await client.count("WorkflowSubscription = 'item_collected:1'") === 2
          );
          equal(await client.execute(herald, { id: "herald", args: ["orc"] }), 1);
          deepEqual(await orc.result(), { completed: true, by: "the orc is dead" });
          equal(
            await client.broadcast(questSignals.enemyKilled, "orc", "orc"),
            0,
            "a quest that has ended hears nothing",
          );
          equal(await client.broadcast(questSignals.itemCollected, 2, 2), 0);
          equal(await client.broadcast(questSignals.itemCollected, 1, 1), 1);
          deepEqual(await elf.result(), { completed: true, by: "item 1 is found" });
          const { events } = await client.getHandle(herald, "herald").fetchHistory();
          deepEqual(
            groupEvents(events).items.filter(({ kind }) => kind === "localActivity").map((
              { name },
            ) => name),
            [
              "broadcast",
            ],
          );
        });
      } finally {
        await engine.close();
      }
    },
  },
];
