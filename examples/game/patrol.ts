// A guard that patrols for years: walks to the next waypoint, waits there, and continues. A threat
// interrupts it at any time: the fight is a separate workflow, and the patrol waits for its result.
// Each round is one way and one rest; between two rounds the run continues as new by itself when
// its history is long enough (docs/database.md#endless-loops).
import {
  carry,
  on,
  payload,
  query,
  select,
  signals,
  spawn,
  timer,
  timers,
  workflow,
} from "temporalex/workflow";
import type { Carry } from "temporalex/workflow";

export interface PatrolInit {
  readonly route: readonly string[];
  /** Fights that it survives before it goes home for good. */
  readonly lives?: number;
}

export interface PatrolState {
  readonly waypoint: number;
  readonly steps: number;
  readonly victories: number;
  readonly defeats: number;
  /** Waypoints per minute. */
  readonly speed: number;
  readonly alertRange: number;
}

export interface PatrolResult {
  readonly steps: number;
  readonly victories: number;
  readonly at: string;
  readonly because: "stood down" | "was defeated";
}

export const patrolSignals = signals({
  threatDetected: payload<[enemyId: number]>(),
  standDown: payload(),
  configure: payload<[{ speed: number; alertRange: number }]>(),
});
export const patrolTimers = timers("startPatrol", "arrival", "wait");
export const patrolStatus = query<PatrolState>("status");

/** Takes two rounds of a second; an even enemy is beaten. */
export const skirmish = workflow("Skirmish", async (enemyId: number) => {
  for (let round = 0; round < 2; round++) await select([timer("delay", "1s", () => undefined)]);
  return { victory: enemyId % 2 === 0 };
});

export const patrol = workflow("Patrol", {
  carry: (_init: PatrolInit): PatrolState => ({
    waypoint: 0,
    steps: 0,
    victories: 0,
    defeats: 0,
    speed: 12,
    alertRange: 10,
  }),
  messages: { status: patrolStatus },
  queries: { status: (state: PatrolState) => state },
  async round(state, { route, lives = 1 }): Promise<Carry<PatrolState> | PatrolResult> {
    const end = (because: PatrolResult["because"]) => ({
      ...{ steps: state.steps, victories: state.victories, at: route[state.waypoint]!, because },
    });
    /** Until the timer fires, unless something else comes first. */
    const meanwhile = (name: string, ms: number) =>
      select([
        timer(name, ms, () => "time" as const),
        on(patrolSignals.standDown, () => "stood down" as const),
        on(patrolSignals.configure, ([to]) => to),
        on(patrolSignals.threatDetected, ([enemyId]) => enemyId),
      ]);
    const walking = state.steps % 2 === 0;
    const next = walking
      ? await meanwhile(
        state.steps === 0 ? patrolTimers.startPatrol : patrolTimers.arrival,
        60_000 / state.speed,
      )
      : await meanwhile(patrolTimers.wait, 2_000);
    if (next === "stood down") return end(next);
    if (typeof next === "object") return carry({ ...state, ...next });
    if (typeof next === "number") {
      const { victory } = await spawn(skirmish, next);
      if (victory) return carry({ ...state, victories: state.victories + 1 });
      if (state.defeats + 1 >= lives) return end("was defeated");
      return carry({ ...state, defeats: state.defeats + 1 });
    }
    const waypoint = walking ? (state.waypoint + 1) % route.length : state.waypoint;
    return carry({ ...state, waypoint, steps: state.steps + 1 });
  },
});
