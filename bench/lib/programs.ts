// The workflows of the benches: native programs of the same form as those whose histories serve as
// the yardstick of replay speed (1,000 activities one after the other, 1,000 at once, an entity fed
// with 2,000 signals, 1,000 timers with 200 updates between them), and two for the engine. Loaded
// by worker realms too, so nothing but the programming model is imported.
import {
  activities,
  noreply,
  on,
  parallel,
  query,
  receive,
  reply,
  signal,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

const { echo } = activities<{ echo(value: number): number }>({ startToClose: "1 minute" });

/** n activities, one after the other. */
export const sequential = workflow("Sequential", async (n: number) => {
  let sum = 0;
  for (let i = 0; i < n; i++) sum += await echo(i);
  return sum;
});

/** n activities at once. */
export const atOnce = workflow("AtOnce", async (n: number) => {
  const results = await parallel(Array.from({ length: n }, (_, i) => () => echo(i)));
  return results.reduce((sum, result) => sum + ("value" in result ? result.value : 0), 0);
});

export const add = signal<[value: number]>("add");
export const total = query<number>("total");

/** Takes n signals. */
export const entity = workflow("Entity", {
  queries: { total: () => 0 },
  async run(n: number) {
    const state = await receive({ seen: 0, total: 0 }, [
      on(add, ([value], { seen, total }) => {
        const next = { seen: seen + 1, total: total + value };
        return next.seen < n ? noreply(next) : stop(next);
      }),
    ]);
    return state.total;
  },
});

export const bump = update<[value: number], number>("bump");

/**
 * n timers of a millisecond, one after the other, while u updates come; ends when all have come.
 */
export const timersAndUpdates = workflow("TimersAndUpdates", async (n: number, u: number) => {
  let state = { seen: 0, total: 0 };
  for (let i = 0; i < n; i++) {
    const result = await receive(state, [
      on(
        bump,
        ([value], { seen, total }) =>
          reply(total + value, { seen: seen + 1, total: total + value }),
      ),
    ], { timeout: 1 });
    state = result.state;
  }
  if (state.seen >= u) return state.total;
  const last = await receive(state, [
    on(bump, ([value], { seen, total }) => {
      const next = { seen: seen + 1, total: total + value };
      return next.seen < u ? reply(next.total, next) : stop(next, next.total);
    }),
  ]);
  return last.total;
});

/** Waits for ever: what an idle run in the cache costs. */
export const idle = workflow("Idle", async () => {
  const state = await receive({ n: 0 }, [
    on(add, ([value], { n }) => noreply({ n: n + value })),
    on(bump, ([value], { n }) => (value < 0 ? stop({ n }, n) : reply(n + value, { n: n + value }))),
  ]);
  return state.n;
});

/** No activity at all: one workflow task. */
export const nothing = workflow("Nothing", async () => 1);
