// What runs while the network misbehaves: a workflow of everything that crosses it (activities,
// timers, signals, updates), whose result contains what it saw.
import {
  activities,
  on,
  receive,
  reply,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  updateState,
  workflow,
} from "../../../ts/workflow/mod.ts";

export interface Acts {
  /** Returns a unique text for each execution: `place#number`. */
  step(place: string): Promise<string>;
}

/**
 * Of each life. A note brings one of both, in a concurrent handler; the rest come after the
 * messages.
 */
export const NOTES = 3;
export const STEPS = NOTES + 2;
export const TIMERS = NOTES + 1;

export const note = signal<[number]>("note");
export const add = update<[number], number>("add");
export const finish = signal("finish");

export interface Seen {
  readonly steps: readonly string[];
  readonly notes: readonly number[];
  readonly sum: number;
}

// A task that got lost on its way is found by its timeouts: they are short, so that lost tasks cost
// seconds.
const acts = activities<Acts>({
  startToClose: "3s",
  retry: { initialInterval: 50, maximumInterval: 1000 },
});

export const life = workflow("ChaosLife", async (id: string): Promise<Seen> => {
  const empty: Seen = { steps: [], notes: [], sum: 0 };
  const seen = await receive(empty, [
    on(note, ([n], seen: Seen) =>
      spawnAsync(async () => {
        await sleep(100);
        const step = await acts.step(`${id}/${n}`);
        updateState((now: Seen) => [undefined, { ...now, steps: [...now.steps, step] }]);
      }, { ...seen, notes: [...seen.notes, n] } as Seen)),
    on(add, ([n], seen) => reply(seen.sum + n, { ...seen, sum: seen.sum + n })),
    on(finish, (_, seen) => stop(seen)),
  ]);
  const steps = [...seen.steps, await acts.step(`${id}/${NOTES}`)];
  await sleep(300);
  return { ...seen, steps: [...steps, await acts.step(`${id}/${NOTES + 1}`)] };
});
