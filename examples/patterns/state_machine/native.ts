// A state machine: an update is an event, and the table defines the next state.
import {
  ApplicationFailure,
  on,
  publishState,
  query,
  receive,
  reply,
  stop,
  update,
  workflow,
} from "temporalex/workflow";

const NEXT: { readonly [state: string]: { readonly [event: string]: string } } = {
  created: { pay: "paid", cancel: "canceled" },
  paid: { ship: "shipped", refund: "refunded" },
};

export const move = update<[event: string], string>("move");
export const current = query<string>("current");

function follow(state: string, event: string): string {
  const next = NEXT[state]?.[event];
  if (next !== undefined) return next;
  throw new ApplicationFailure(`${event} is not possible when ${state}`, { type: "NotPossible" });
}

export const orderStates = workflow("orderStates", {
  messages: { move, current },
  queries: { current: (published: string) => published },
  async run() {
    publishState("created");
    return await receive("created", [
      on(move, ([event], state) => {
        const next = follow(state, event);
        publishState(next);
        return next in NEXT ? reply(next, next) : stop(next, next);
      }, { validate: ([event], state) => void follow(state, event) }),
    ]);
  },
});
