// A watchdog: a device signals that it is alive; after a time without a signal an operator is notified.
import { activities, on, select, signal, timer, workflow } from "temporalex/workflow";

const { alarm } = activities<typeof import("./activities.ts")>({ startToClose: "10s" });

export const alive = signal("alive");
export const retire = signal("retire");

export const watchdog = workflow("watchdog", async (device: string, limitMs: number) => {
  for (let signals = 0;;) {
    const end = await select([
      on(alive, () => undefined),
      on(retire, () => "retired"),
      timer(limitMs, () => "silent"),
    ]);
    if (end === "silent") await alarm(device);
    if (end !== undefined) return `${end} after ${signals} signals`;
    signals++;
  }
});
