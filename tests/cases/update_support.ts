// What cases of updates share: a loop that takes one of each kind.
import {
  activities,
  ApplicationFailure,
  noreply,
  on,
  query,
  receive,
  reply,
  signal,
  sleep,
  stop,
  update,
  workflow,
} from "../../ts/workflow/mod.ts";

export const acts = activities<{ work(x: number): number }>();
export const add = update<[number], number>("add");
export const slow = update<[number], string>("slow");
export const quick = update<[], string>("quick");
export const note = signal<[string]>("note");
export const end = signal("end");
export const total = query<number>("total");
export interface State {
  readonly sum: number;
  readonly seen: readonly string[];
}
export const EMPTY: State = { sum: 0, seen: [] };
export const saw = (state: State, what: string): State => ({
  ...state,
  seen: [...state.seen, what],
});
/** slow blocks on an activity; add is validated against the sum; note is recorded; end stops. */
export const loop = workflow("Loop", {
  messages: { total },
  queries: { total: (published: number) => published },
  run: async () => {
    const state = await receive(EMPTY, [
      on(add, ([n], s) => reply(s.sum + n, saw({ ...s, sum: s.sum + n }, `add ${n}`)), {
        validate: ([n], s) => {
          if (s.sum + n > 10) {
            throw new ApplicationFailure(`${s.sum} + ${n} is too much`, { type: "TooMuch" });
          }
        },
      }),
      on(slow, async ([n], s) => {
        const made = await acts.work(n);
        return reply(`made ${made}`, saw({ ...s, sum: s.sum + made }, `slow ${n}`));
      }),
      on(note, ([text], s) => noreply(saw(s, `note ${text}`))),
      on(end, (_, s) => stop(saw(s, "end"))),
    ]);
    await sleep(1);
    return state;
  },
});
