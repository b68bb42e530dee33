// The world: patrols that walk for ever, threats that call them, wards that stack and run out,
// poison that a spell spreads.
import {
  carry,
  externalWorkflow,
  on,
  payload,
  reducers,
  select,
  shield,
  signals,
  timer,
  timers,
  transact,
  workflow,
} from "temporalex/workflow";
import type { Threat } from "./reducers.ts";

const world = reducers<typeof import("./reducers.ts")>();

export const patrolSignals = signals({
  threatDetected: payload<[threat: number]>(),
  standDown: payload(),
});
const patrolTimers = timers("step", "blow");

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** What a patrol carries from round to round. */
export interface Patrol extends Point {
  readonly npc: number;
  readonly route: readonly Point[];
  /** The corner that it walks to. */
  readonly to: number;
  /** Milliseconds for a step. */
  readonly pace: number;
}

const towards = (from: Point, to: Point): Point => ({
  x: from.x + Math.sign(to.x - from.x),
  y: from.y + Math.sign(to.y - from.y),
});
const isBeside = (a: Point, b: Point): boolean =>
  Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y)) <= 1;

export const patrolId = (npc: number): string => `patrol-${npc}`;

/**
 * Walks its route for ever. When a threat is seen near it, it goes there and fights; on standDown
 * it goes home.
 */
export const patrol = workflow("Patrol", {
  messages: patrolSignals,
  carry: (start: Patrol): Patrol => start,
  round(patrol) {
    let { x, y } = patrol;
    const { npc, route, pace, to } = patrol;
    const home = route[0]!;
    const go = (target: Point, doing: string) => {
      ({ x, y } = towards({ x, y }, target));
      transact(world.walk, npc, x, y, doing);
    };
    return select([
      timer(patrolTimers.step, pace, () => {
        const corner = route[to]!;
        go(corner, "patrols");
        const isThere = x === corner.x && y === corner.y;
        return carry({ ...patrol, x, y, to: isThere ? (to + 1) % route.length : to });
      }),
      on(patrolSignals.threatDetected, async ([threat]) => {
        for (;;) {
          const seen: Threat | undefined = await transact(world.strike, npc, threat);
          if (seen === undefined) return carry({ ...patrol, x, y });
          if (isBeside({ x, y }, seen)) transact(world.walk, npc, x, y, "fights");
          else go(seen, "alert");
          await timer(patrolTimers.blow, pace);
        }
      }),
      on(patrolSignals.standDown, async () => {
        while (x !== home.x || y !== home.y) {
          go(home, "goes home");
          await timer(patrolTimers.step, pace);
        }
        transact(world.walk, npc, x, y, "rests");
      }),
    ]);
  },
});

/** Comes up at a place, and calls the patrols that are near. */
export const threat = workflow("Threat", async (x: number, y: number, hp: number) => {
  const { threat, near } = await transact(world.threaten, x, y, hp);
  for (const npc of near) {
    // One that has gone home meanwhile does not come.
    await externalWorkflow(patrolId(npc)).signal(patrolSignals.threatDetected, threat).catch(
      () => {},
    );
  }
  return near;
});

export const wardSignals = signals({ stack: payload<[more: number]>(), dispel: payload() });
const wardTimers = timers("expire");

/** Each stack makes a ward stronger and lets it last again. */
export const ward = workflow("Ward", {
  messages: wardSignals,
  async run(npc: number, lastsMs: number) {
    let stacks = 1;
    for (;;) {
      transact(world.ward, npc, stacks);
      const over = await select([
        timer(wardTimers.expire, lastsMs, () => "expired"),
        on(wardSignals.dispel, () => "dispelled"),
        on(wardSignals.stack, ([more]) => void (stacks += more)),
      ]);
      if (over === undefined) continue;
      transact(world.ward, npc, 0);
      return { over, stacks };
    }
  },
});

const poisonTimers = timers("tick");

/** Takes a point of health per tick, until it is over or its spell is cancelled. */
export const poison = workflow("Poison", async (npc: number, ticks: number, tickMs: number) => {
  try {
    for (let left = ticks; left > 0; left--) {
      transact(world.poison, npc, left, 1);
      await timer(poisonTimers.tick, tickMs);
    }
  } finally {
    await shield(async () => await transact(world.poison, npc, 0, 0)); // also when its spell was cancelled
  }
});

/**
 * Strengthens each ward and ends it again: what a client would do by hand, but exactly once,
 * whatever happens to the client.
 */
export const blessing = workflow("Blessing", async (wards: readonly string[], stacks: number) => {
  for (const id of wards) {
    const there = externalWorkflow(id);
    for (let more = 0; more < stacks; more++) await there.signal(wardSignals.stack, 1);
    await there.signal(wardSignals.dispel);
  }
});
