// What can be done in the world, from outside: the same for a terminal, a page and a test. The map
// is read from the tables; everything that happens is a workflow's.
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
} from "temporalex/client";
import { HEIGHT, type Npc, type Threat, WIDTH } from "./reducers.ts";
import {
  blessing,
  patrol,
  patrolId,
  patrolSignals,
  type Point,
  poison,
  threat,
  ward,
  wardSignals,
} from "./workflows.ts";

/** A client, and how rows are read: a process reads at once, a tab asks the one that leads. */
export interface World {
  readonly client: Client;
  rows<T extends object>(
    sql: string,
    ...params: (string | number)[]
  ): readonly T[] | Promise<readonly T[]>;
}

export interface Sight {
  readonly npcs: readonly Npc[];
  readonly threats: readonly Threat[];
  readonly scores: { readonly [what: string]: number };
}

export async function look(world: World): Promise<Sight> {
  const scores = await world.rows<{ what: string; count: number }>("SELECT what, count FROM score");
  return {
    npcs: await world.rows<Npc>("SELECT * FROM npc ORDER BY id"),
    threats: await world.rows<Threat>("SELECT * FROM threat ORDER BY id"),
    scores: Object.fromEntries(scores.map(({ what, count }) => [what, count])),
  };
}

/** Numbers that are the same each time, so that a world can be compared with another one. */
function numbers(seed: number): (below: number) => number {
  let state = Math.imul(seed, 0x9e3779b1);
  return (below) => {
    state = Math.imul(state ^ state >>> 15, 0x85ebca6b) + 0x6d2b79f5 | 0;
    return ((state ^ state >>> 13) >>> 0) % below;
  };
}

/** The rectangle that an NPC walks around. */
export function routeOf(npc: number): readonly Point[] {
  const next = numbers(npc + 1);
  const [width, height] = [3 + next(6), 2 + next(4)];
  const [x, y] = [next(WIDTH - width), next(HEIGHT - height)];
  return [{ x, y }, { x: x + width, y }, { x: x + width, y: y + height }, { x, y: y + height }];
}

/** Starts what has not been started yet; what runs, or has ended, stays as it is. */
const ONCE = { idConflictPolicy: "USE_EXISTING", idReusePolicy: "REJECT_DUPLICATE" } as const;
const orKnown = (e: unknown): void => {
  if (!(e instanceof WorkflowExecutionAlreadyStartedError)) throw e;
};

/** Starts patrols; those that already walk continue. */
export async function populate(world: World, count: number, pace: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, async (_, npc) => {
    const route = routeOf(npc);
    const start = { npc, route, pace, ...route[0]!, to: 1 };
    await world.client.start(patrol, {
      id: patrolId(npc),
      entityId: String(npc),
      args: [start],
      ...ONCE,
    }).catch(orKnown);
  }));
}

export async function standDown(world: World, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, async (_, npc) => {
    await world.client.getHandle(patrol, patrolId(npc)).signal(patrolSignals.standDown).catch(
      (e) => {
        if (!(e instanceof WorkflowNotFoundError)) throw e; // it rests already
      },
    );
  }));
}

export async function threaten(
  world: World,
  { x, y }: Point,
  hp: number,
  id = `threat-${crypto.randomUUID()}`,
): Promise<void> {
  await world.client.start(threat, { id, args: [x, y, hp], ...ONCE }).catch(orKnown);
}

const wardId = (npc: number): string => `ward-${npc}`;

/** "manual": the timers of what is started fire by hand. */
type Timers = "due" | "manual";

/** Gives an NPC a ward, or one more stack of the one that it has. */
export async function strengthen(
  world: World,
  npc: number,
  lastsMs: number,
  timers: Timers = "due",
): Promise<void> {
  const id = wardId(npc);
  await world.client.signalWithStart(ward, {
    ...{ id, entityId: String(npc), args: [npc, lastsMs] },
    ...{ signal: wardSignals.stack, signalArgs: [1], ...(timers === "manual" && { timers }) },
  });
}

/**
 * Gives some NPCs a ward each, and strengthens and dispels them by a workflow, so that no client
 * has to stay.
 */
export async function bless(
  world: World,
  npcs: readonly number[],
  stacks: number,
  lastsMs: number,
): Promise<void> {
  const id = (npc: number) => `blessed-${npc}`;
  await Promise.all(
    npcs.map((npc) =>
      world.client.start(ward, {
        id: id(npc),
        entityId: String(npc),
        args: [npc, lastsMs],
        ...ONCE,
      }).catch(orKnown)
    ),
  );
  await world.client.start(blessing, { id: "blessing", args: [npcs.map(id), stacks], ...ONCE })
    .catch(orKnown);
}

/** The NPCs within a distance of a place. */
export async function within(
  world: World,
  { x, y }: Point,
  distance: number,
): Promise<readonly number[]> {
  const rows = await world.rows<{ id: number }>(
    "SELECT id FROM npc WHERE max(abs(x - ?), abs(y - ?)) <= ? ORDER BY id",
    x,
    y,
    distance,
  );
  return rows.map(({ id }) => id);
}

/**
 * Poisons several at once. One spell is one correlation: what it has set off is cancelled together.
 */
export async function cast(
  world: World,
  targets: readonly number[],
  ticks: number,
  tickMs: number,
  spell: string,
  timers: Timers = "due",
): Promise<void> {
  await Promise.all(targets.map((npc) =>
    world.client.start(poison, {
      id: `${spell}-${npc}`,
      entityId: String(npc),
      correlationId: spell,
      args: [npc, ticks, tickMs],
      ...(timers === "manual" && { timers }),
      ...ONCE,
    }).catch(orKnown)
  ));
}

/** Ends everything that a spell has set off. */
export async function endSpell(world: World, spell: string): Promise<void> {
  await world.client.workflows({ correlationId: spell }).cancel();
}
