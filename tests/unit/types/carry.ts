// Type tests of carry: the state that a round gets and may carry, and the workflow's arguments and
// result.
import {
  carry,
  continueAsNew,
  query,
  select,
  sleep,
  timer,
  workflow,
} from "../../../ts/workflow/mod.ts";
import type { WorkflowDefinition } from "../../../ts/workflow/mod.ts";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true
  : false;
const is = <T extends true>(): T => true as T;

const where = query<number>("where");
interface State {
  readonly waypoint: number;
  readonly last?: string;
}

const patrol = workflow("Patrol", {
  carry: (route: string[], from?: number): State => ({ waypoint: from ?? 0, last: route[0]! }),
  messages: { where },
  queries: { where: (published: State) => published.waypoint },
  async round(state, route, from) {
    is<Equal<[typeof state, typeof route, typeof from], [State, string[], number | undefined]>>();
    await sleep("1s");
    return state.waypoint > 3 ? route.join() : carry({ waypoint: state.waypoint + 1 });
  },
});
is<Equal<typeof patrol, WorkflowDefinition<[route: string[], from?: number], string>>>();

const endless = workflow("Endless", { carry: () => 0, round: async (n) => carry(n + 1) });
is<Equal<typeof endless, WorkflowDefinition<[], never>>>();

export const bySelect = workflow("BySelect", {
  carry: () => ({ laps: 0 }),
  round: ({ laps }) =>
    select([timer("1s", () => carry({ laps: laps + 1 })), timer("2s", () => "done" as const)]),
});
is<Equal<typeof bySelect, WorkflowDefinition<[], "done">>>();

// @ts-expect-error another state than the declared one
workflow("OtherState", { carry: () => ({ n: 0 }), round: async () => carry({ m: 1 }) });
// @ts-expect-error the round takes what carry takes
workflow("OtherArgs", { carry: (_n: number) => 0, round: async (_state, _s: string) => 1 });
// @ts-expect-error a round is needed
workflow("NoRound", { carry: () => 0 });
// @ts-expect-error queries among the messages need handlers
workflow("NoHandler", { carry: () => 0, messages: { where }, round: async (n) => n });
export const over = workflow("Over", {
  carry: (_n: number) => 0,
  round: async (n) => n > 1 ? continueAsNew(1) : carry(n + 1),
});
