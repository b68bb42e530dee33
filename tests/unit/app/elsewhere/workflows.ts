// A workflow that publishes the values of its signals.
import {
  publishState,
  signal,
  sleep,
  waitForSignal,
  workflow,
} from "../../../../ts/workflow/mod.ts";

export const go = signal<[state: unknown]>("go");

export const told = workflow("told", async (): Promise<number> => {
  await sleep(1);
  for (let n = 0;; n++) {
    const state = [await waitForSignal(go)].flat()[0];
    if (state === "end") return n;
    publishState(state);
  }
});
