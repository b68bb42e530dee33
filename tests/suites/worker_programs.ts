// Workflows and activities of the worker suite that several of its parts use.
import { activities, signal, workflow } from "../../ts/workflow/mod.ts";

export interface Acts {
  work(input: string): Promise<string>;
}

export const quick = activities<Acts>({
  startToClose: "1m",
  retry: { initialInterval: 1, maximumInterval: 5, maximumAttempts: 4 },
});

export const once = activities<Acts>({ startToClose: "1m", retry: { maximumAttempts: 1 } });

export const beating = activities<Acts>({
  startToClose: "60s",
  heartbeat: "30s",
  retry: { maximumAttempts: 1 },
  cancellationType: "waitCancellationCompleted",
});

export const runs = workflow("Runs", async (input: string) => await quick.work(input));

export const runsOnce = workflow("RunsOnce", async (input: string) => await once.work(input));

export const close = signal("close");

export const done = signal("done");
