// A day of the world: a hundred patrols, threats that they beat, wards that stack and are
// dispelled, two spells of which one is cancelled. However often the process is killed meanwhile,
// the day ends in the same state (tests/unit/app/world_kill9).
import { open, type OpenOptions, silentLogger } from "temporalex";
import * as reducers from "./reducers.ts";
import {
  bless,
  cast,
  endSpell,
  look,
  populate,
  type Sight,
  standDown,
  threaten,
  type World,
} from "./world.ts";

const { WIDTH, HEIGHT, migrations } = reducers;
const HOUR = 3_600_000;

/** Opens the world of a file (or of this process alone). */
export async function openWorld(
  options: OpenOptions = {},
): Promise<World & { close(): Promise<void> }> {
  const workflows = new URL("./workflows.ts", import.meta.url);
  const app = await open({ workflows, reducers, migrations, logger: silentLogger, ...options });
  return {
    client: app.client,
    rows: (sql, ...params) => app.engine.tables.all(sql, ...params),
    close: () => app.close(),
  };
}

const settled = async (what: () => Promise<boolean>): Promise<void> => {
  while (!await what()) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** Each step can be repeated: existing workflows continue. */
export async function day(world: World, npcs: number, pace: number): Promise<Sight> {
  const all = Array.from({ length: npcs }, (_, npc) => npc);
  await populate(world, npcs, pace);
  await settled(async () => (await look(world)).npcs.length === npcs);
  const threats = [{ x: 2, y: 2 }, { x: WIDTH - 3, y: 3 }, { x: WIDTH >> 1, y: HEIGHT >> 1 }];
  for (const [n, place] of threats.entries()) await threaten(world, place, 12, `threat-${n}`);

  await bless(world, all.filter((npc) => npc % 10 === 0), 2, HOUR);
  await cast(world, all.filter((npc) => npc % 3 === 0), 5, pace, "venom");
  await cast(world, all.filter((npc) => npc % 3 === 1), 1000, HOUR, "plague");
  await settled(async () =>
    (await look(world)).npcs.every(({ id, hp }) => id % 3 !== 1 || hp < 100)
  );
  await endSpell(world, "plague");

  await settled(async () => (await look(world)).scores["threats beaten"] === threats.length);
  await standDown(world, npcs);
  await settled(async () => (await world.client.count("ExecutionStatus = 'Running'")) === 0);
  return await look(world);
}

/** For `npm run example world`: a day in memory. */
export async function run(say: (line: string) => void): Promise<unknown> {
  const world = await openWorld();
  try {
    const { npcs, threats, scores } = await day(world, 100, 20);
    const health = npcs.reduce<{ [hp: number]: number }>(
      (sums, { hp }) => ({ ...sums, [hp]: (sums[hp] ?? 0) + 1 }),
      {},
    );
    say(
      `${npcs.length} patrols are home; ${
        scores["threats beaten"]
      } threats beaten, ${threats.length} left`,
    );
    return {
      health,
      wards: scores["wards over"],
      resting: npcs.filter(({ doing }) => doing === "rests").length,
    };
  } finally {
    await world.close();
  }
}
