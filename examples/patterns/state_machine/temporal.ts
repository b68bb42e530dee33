// A state machine: an update is an event, and the table defines the next state.
import {
  allHandlersFinished,
  ApplicationFailure,
  condition,
  defineQuery,
  defineUpdate,
  setHandler,
} from "@temporalio/workflow";

const NEXT: { readonly [state: string]: { readonly [event: string]: string } } = {
  created: { pay: "paid", cancel: "canceled" },
  paid: { ship: "shipped", refund: "refunded" },
};

export const move = defineUpdate<string, [event: string]>("move");
export const current = defineQuery<string>("current");

function follow(state: string, event: string): string {
  const next = NEXT[state]?.[event];
  if (next !== undefined) return next;
  throw ApplicationFailure.nonRetryable(`${event} is not possible when ${state}`, "NotPossible");
}

export async function orderStates(): Promise<string> {
  let state = "created";
  setHandler(current, () => state);
  setHandler(move, (event) => state = follow(state, event), {
    validator: (event) => void follow(state, event),
  });
  await condition(() => !(state in NEXT));
  await condition(allHandlersFinished);
  return state;
}
