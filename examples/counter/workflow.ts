// Entity workflow: counts the values of its signals, until the signal to stop.
import {
  noreply,
  on,
  publishState,
  query,
  receive,
  signal,
  stop,
  workflow,
} from "temporalex/workflow";

export const increment = signal("increment");
export const decrement = signal("decrement");
export const done = signal("done");
export const value = query<number>("value");

export const counter = workflow("Counter", {
  messages: { increment, decrement, done, value },
  queries: { value: (published: number) => published },
  async run(): Promise<number> {
    publishState(0);
    const changed = (count: number) => {
      publishState(count);
      return noreply(count);
    };
    return await receive(0, [
      on(increment, (_, count) => changed(count + 1)),
      on(decrement, (_, count) => changed(count - 1)),
      on(done, (_, count) => stop(count)),
    ]);
  },
});
