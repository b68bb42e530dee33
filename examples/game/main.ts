// A short game in virtual time: `npm run example game`. Patrols, buffs and a spell, on the embedded
// engine in memory.
import { TestEnvironment } from "temporalex/testing";
import { buff, buffSignals } from "./buff.ts";
import { combat, combatSignals } from "./combat.ts";
import * as tables from "./combat_tables.ts";
import { dot } from "./dot.ts";
import { branching, taskList, tickCounter } from "./flow.ts";
import { quest, questSignals } from "./quest.ts";
import { patrol, patrolSignals, patrolStatus } from "./patrol.ts";

const modules = [
  new URL("./buff.ts", import.meta.url),
  new URL("./combat.ts", import.meta.url),
  new URL("./dot.ts", import.meta.url),
  new URL("./flow.ts", import.meta.url),
  new URL("./patrol.ts", import.meta.url),
  new URL("./quest.ts", import.meta.url),
];

type Say = (line: string) => void;

/** Runs all parts; `events`: the length of a history at which patrols continue as new. */
export async function play(say: Say, events = 40) {
  const { migrations, ...reducers } = tables;
  const env = await TestEnvironment.create({
    limits: { suggestContinueAsNewEvents: events },
    reducers,
    migrations,
  });
  try {
    return await env.runWorker({ workflows: modules }, async () => {
      const { client } = env;
      const { fallen, continued } = await playPatrol(env, say);
      const strength = await playBuff(env, say);
      const left = await playSpell(env, say);
      const quests = await playQuests(env, say);
      const { combats, npcs } = await playCombats(env, say);
      return {
        combats,
        npcs,
        quests,
        patrol: fallen,
        continued,
        buff: await strength.result(),
        dots: left,
        counter: await client.execute(tickCounter, { id: "counter-1", args: [{ iterations: 3 }] }),
        tasks: await client.execute(taskList, { id: "tasks-1", args: [{ taskCount: 4 }] }),
        branch: await client.execute(branching, {
          id: "branch-1",
          args: [{ useShortTimer: false }],
        }),
      };
    });
  } finally {
    await env.dispose();
  }
}

async function playPatrol(env: TestEnvironment, say: Say) {
  const { client } = env;
  const guard = await client.start(patrol, {
    id: "patrol-1",
    args: [{ route: ["gate", "well", "tower"], lives: 2 }],
  });
  for (let i = 0; i < 4; i++) {
    await env.advance("1 minute");
    await guard.signal(patrolSignals.threatDetected, i);
    await env.advance("2s");
  }
  const seen = await client.getHandle(patrol, "patrol-1").query(patrolStatus);
  say(`the patrol has gone ${seen.steps} steps and has won ${seen.victories} fights`);
  const fallen = await guard.result();
  const { runId } = await client.getHandle(patrol, "patrol-1").describe();
  const continued = runId !== guard.runId;
  say(
    `it ${fallen.because}, in ${
      continued ? "a later run, which it has begun by itself" : "its first run"
    }`,
  );
  return { fallen, continued };
}

async function playBuff(env: TestEnvironment, say: Say) {
  const strength = await env.client.start(buff, {
    id: "buff-1",
    args: [{ durationSeconds: 60 }],
    entityId: "42",
  });
  await env.advance("50s");
  await strength.signal(buffSignals.stack, 5);
  await env.advance("50s");
  say(`status of buff 42: ${(await strength.describe()).status}`);
  return strength;
}

/** A spell on three targets, dispelled before it ends; returns the status of its workflows. */
async function playSpell(env: TestEnvironment, say: Say) {
  const { client } = env;
  const spell = "spell-1";
  const targets = [7, 8, 9];
  for (const target of targets) {
    const init = { target, damage: 5, ticks: 10 };
    await client.start(dot, {
      id: `dot-${target}`,
      args: [init],
      entityId: String(target),
      correlationId: spell,
    });
  }
  await env.advance("3500ms");
  const ended = await client.workflows({ correlationId: spell }).cancel("dispelled");
  await env.advance(0);
  say(`the spell was dispelled on ${ended} targets`);
  const left: string[] = [];
  for (const target of targets) {
    left.push((await client.getHandle(dot, `dot-${target}`).describe()).status);
  }
  return left;
}

/** Two quests: one waits for a dead orc, the other for item 8. */
async function playQuests(env: TestEnvironment, say: Say) {
  const { client } = env;
  const orc = await client.start(quest, {
    id: "quest-orc",
    args: [{ targetEnemy: "orc", targetItem: 7 }],
  });
  const elf = await client.start(quest, {
    id: "quest-elf",
    args: [{ targetEnemy: "elf", targetItem: 8 }],
  });
  await env.advance(0);
  // One commit: the line in the game's table, and the signals to the quests.
  const received = await env.transaction((db, workflows) => {
    tables.logCombatEvent(db, 1, "an orc is dead");
    return workflows.broadcast(questSignals.enemyKilled, "orc", "orc");
  });
  await client.broadcast(questSignals.itemCollected, 8, 8);
  say(`an orc is dead: ${received} quest received the signal`);
  return [(await orc.result()).by, (await elf.result()).by];
}

async function playCombats(env: TestEnvironment, say: Say) {
  const { client } = env;
  const won = await client.execute(combat, {
    id: "combat-1",
    args: [{ targetId: 1, damage: 40, blows: 5 }],
  });
  const second = await client.start(combat, {
    id: "combat-2",
    args: [{ targetId: 2, damage: 40, blows: 5 }],
  });
  await env.advance("500ms");
  await env.transaction((db, workflows) => {
    tables.logCombatEvent(db, 2, "the target flees");
    workflows.signal(second.workflowId, combatSignals.flee);
  });
  const fled = await second.result();
  const npcs = env.engine.tables.all(
    "SELECT id, hp, (SELECT count(*) FROM effect WHERE npc = npc.id) AS hits FROM npc",
  );
  say(
    `one fight ended in ${won.outcome} after ${won.blows} blows, of the other the target ${fled.outcome}`,
  );
  return { combats: [won, fled], npcs };
}

/** As `npm run example game` runs it. */
export const run = (say: Say): Promise<unknown> => play(say);
