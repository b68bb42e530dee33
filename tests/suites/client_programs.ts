// The workflows of the client suite.
import { ApplicationFailure } from "../../ts/converter/mod.ts";
import {
  activities,
  cancelled,
  continueAsNew,
  on,
  publishState,
  query,
  receive,
  reply,
  shield,
  signal,
  sleep,
  spawnAsync,
  stop,
  update,
  waitForSignal,
  workflow,
  workflowInfo,
} from "../../ts/workflow/mod.ts";

export const add = update<[n: number], number>("add");

export const addSlowly = update<[n: number], number>("addSlowly");

export const fails = update<[], void>("fails");

export const finish = signal<[by?: string]>("finish");

export const value = query<number>("value");

export const plus = query<number, [n: number]>("plus");

export const broken = query<number>("broken");

export const gate = activities<{ gate(): Promise<void> }>({ startToClose: "30s" });

export const counter = workflow("Counter", {
  messages: { value, plus, broken },
  queries: {
    value: (published: number) => published,
    plus: (published: number, n) => published + n,
    broken: () => {
      throw new Error("no such thing");
    },
  },
  async run(start: number) {
    publishState(start);
    const state = await receive({ n: start }, [
      on(add, ([n], s) => {
        publishState(s.n + n);
        return reply(s.n + n, { n: s.n + n });
      }, {
        validate: ([n]) => {
          if (n < 0) throw ApplicationFailure.nonRetryable("only upwards", { type: "Negative" });
        },
      }),
      on(addSlowly, ([n], s) =>
        spawnAsync(async (updateState) => {
          await gate.gate();
          return updateState((now) => [now.n + n, { n: now.n + n }]);
        }, s)),
      on(fails, () => {
        throw ApplicationFailure.nonRetryable("never works", { type: "Never" });
      }),
      on(finish, (_, s) => stop(s)),
    ]);
    return state.n;
  },
});

export const chain = workflow("Chain", async (left: number, sum: number) => {
  if (left === 0) return sum;
  return continueAsNew<[number, number]>(left - 1, sum + left);
});

export const failing = workflow("Failing", async () => {
  await sleep(1);
  throw ApplicationFailure.nonRetryable("out of order", {
    type: "OutOfOrder",
    details: [{ at: 3 }],
  });
});

export const patient = workflow("Patient", async () => {
  try {
    await waitForSignal(finish);
    return "finished";
  } catch (error) {
    if (cancelled()) await shield(() => sleep(1));
    throw error;
  }
});

export const named = workflow("Named", async () => {
  const by = await waitForSignal(finish);
  return { by, id: workflowInfo().workflowId };
});

/** Each run takes one update and continues as new; `finish` ends it. */
export const relay = workflow("Relay", async (seen: number[]) => {
  const state = await receive({ seen, over: false }, [
    on(add, ([n], s) => stop({ ...s, seen: [...s.seen, n] }, s.seen.length)),
    on(finish, (_, s) => stop({ ...s, over: true })),
  ]);
  return state.over ? state.seen : continueAsNew(state.seen);
});

export const workflows = [counter, chain, failing, patient, named, relay];

export const noActivities = { gate: () => {} };
