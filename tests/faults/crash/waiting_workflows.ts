// Runs that wait in a local activity, and runs that need none (waiting_loop.ts).
import { localActivities, workflow } from "../../../ts/workflow/mod.ts";

const near = localActivities<{ wait(): Promise<void> }>({ startToClose: "10 minutes" });

export const waiting = workflow("Waiting", async () => await near.wait());
export const fast = workflow("Fast", (n: number) => Promise.resolve(n + 1));
