// Workflows of the scenarios on a real server. Pure: they also run in the browser, where their
// histories are replayed.
import {
  activities,
  ApplicationFailure,
  cancelled,
  continueAsNew,
  noreply,
  on,
  parallel,
  patched,
  publishState,
  query,
  receive,
  reply,
  shield,
  sideEffect,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

export const add = update<[number], number>("add");
export const slowly = update<[string], string>("slowly");
export const concurrently = update<[string], string>("concurrently");
export const note = signal<[string]>("note");
export const end = signal("end");
export const size = query<number>("size");

const acts = activities<typeof import("./activities.ts")>({
  startToClose: "60s",
  retry: { initialInterval: 20 },
});
const beating = activities<typeof import("./activities.ts")>({
  startToClose: "60s",
  heartbeat: "30s",
  cancellationType: "waitCancellationCompleted",
});

/** A phase with no receive, then one: updates of the first phase are refused. */
export const phases = workflow("Phases", async () => {
  await acts.held("phase");
  return await receive(0, [on(add, ([n], s) => reply(s + n, s + n)), on(end, (_, s) => stop(s))]);
});

/**
 * `slowly` keeps the loop busy until its activity has completed; later messages wait for their
 * turn. `concurrently` does not.
 */
export const busy = workflow("Busy", async () =>
  await receive([] as string[], [
    on(slowly, async ([what], s) => {
      await acts.held(what);
      return reply(await acts.step(what), [...s, `slowly ${what}`]);
    }),
    on(concurrently, ([what], s) =>
      spawnAsync(async (updateState) => {
        await sleep(200);
        return await updateState((
          now,
        ) => [`concurrently ${now.length}`, [...now, `concurrently ${what}`]]);
      }, s)),
    on(add, ([n], s) => reply(s.length, [...s, `add ${n}`]), {
      validate: ([n]) => {
        if (n < 0) throw new ApplicationFailure("only upwards", { type: "Negative" });
      },
    }),
    on(end, (_, s) => stop(s)),
  ]));

/**
 * Ends at `end`; continues as new first if requested. Notes that were not received are carried over
 * to the next run.
 */
export const lastWords = workflow("LastWords", async (again: boolean, notes: string[]) => {
  const state = await receive(notes, [
    on(note, ([text], s) => noreply([...s, text])),
    on(end, (_, s) => stop(s)),
  ]);
  if (again) return continueAsNew(false, state);
  return state;
});

/** Cancelled while an activity beats: cleans up in a shield, and fails as cancelled. */
export const tidy = workflow("Tidy", async () => {
  try {
    await parallel([() => beating.beats(), () => sleep("1h")]);
    await sleep("1h");
    return "not cancelled";
  } finally {
    if (cancelled()) {
      await shield(async () => {
        await acts.step("cleanup one");
        await sleep(1);
        await acts.step("cleanup two");
      });
    }
  }
});

/**
 * Before the deploy: one step. After it: two, for runs that begin then. `v1` runs the code of the
 * first deploy.
 */
const deployed = (version: 1 | 2) =>
  workflow("Deployed", async () => {
    const steps = [];
    if (version === 2 && patched("two-steps")) steps.push(await acts.step("new first"));
    steps.push(await acts.step("old"));
    await receive(0, [on(end, (_, s) => stop(s))]);
    if (version === 2 && patched("after")) steps.push(await acts.step("new last"));
    return steps;
  });
export const deployedV2 = deployed(2);
export const olderVersions: { readonly v1: ReturnType<typeof deployed> } = { v1: deployed(1) };

/**
 * Records `batches` times `each` side effects, then waits: a history of any length, made cheaply.
 */
export const long = workflow("Long", {
  messages: { size },
  queries: { size: (published: number) => published },
  async run(batches: number, each: number) {
    let sum = 0;
    for (let batch = 0; batch < batches; batch++) {
      for (let i = 0; i < each; i++) sum += sideEffect(() => i);
      publishState(sum);
      await sleep(1);
    }
    const added = await receive(0, [
      on(note, (_, s) => noreply(s + 1)),
      on(add, ([n], s) => reply(sum + s + n, s + n)),
      on(end, (_, s) => stop(s)),
    ]);
    return sum + added;
  },
});

/** What goes wrong in one run must stay there. */
export const poison = workflow("Poison", async (kind: string): Promise<unknown> => {
  await sleep(1);
  switch (kind) {
    case "spins":
      for (let i = 0; i < 1.5e10; i++);
      break;
    case "throws":
      throw new TypeError("a bug");
    case "astray":
      return await new Promise(() => {});
    default:
      return "well";
  }
});

export const neighbor = workflow("Neighbor", async (n: number) => {
  const first = await acts.step(`n${n}`);
  await sleep(1);
  return [first, await acts.flaky()];
});
