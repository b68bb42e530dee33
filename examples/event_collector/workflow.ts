// Continue-as-new: collects events for a day (or until the flush signal, or until its history is
// long), stores them, and starts over with a fresh history.
import {
  activities,
  type ContinueAsNew,
  continueAsNew,
  noreply,
  on,
  publishState,
  query,
  receive,
  signal,
  stop,
  workflow,
  workflowInfo,
} from "temporalex/workflow";

export interface CollectedEvent {
  readonly kind: string;
}
export interface Generation {
  readonly events: readonly CollectedEvent[];
  readonly generation: number;
}

export const event = signal<[event: CollectedEvent]>("event");
export const flush = signal("flush");
export const count = query<number>("count");

const eventStore = activities<typeof import("./activities.ts")>({ startToClose: "30s" });

export const eventCollector = workflow("EventCollector", {
  messages: { event, flush, count },
  queries: { count: (published: number) => published },
  async run(
    start: Generation = { events: [], generation: 0 },
  ): Promise<ContinueAsNew<[Generation]>> {
    publishState(start.events.length);

    const { state } = await receive(start, [
      on(event, ([event], state) => {
        publishState(state.events.length + 1);
        return noreply({ ...state, events: [...state.events, event] });
      }),
      on(flush, (_, state) => stop(state)),
    ], { timeout: "24h", until: () => workflowInfo().continueAsNewSuggested });

    await eventStore.batchInsert(state.events);
    return continueAsNew({ events: [], generation: state.generation + 1 });
  },
});
