import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const worker = command({
  summary: "run workflows and activities, and take changed code over while running",
  description:
    `Works on a task queue until Ctrl-C. Modules may be TypeScript and need no build step, in Node and in Deno.
The first Ctrl-C stops taking tasks and finishes the running ones; the second one ends the process immediately (nothing acknowledged is lost).`,
  options,
  lines: true,
  drains: true,
  notes:
    `With --watch, a change that open runs do not agree with is not taken: the message names the run, the event of its history and the line of the new code, and the old code serves on. Edit again, and it is tried again.
With --listen: /healthz returns 200 until the worker has stopped; /readyz returns 200 once the worker polls and 503 from when it starts to stop; /metrics has the names of Temporal's SDKs. Responses have no ids and payloads, and web pages may not read them.
With --address: what it waits for is told until the cluster has answered that the namespace is there. A namespace, a key or a certificate that the cluster does not take ends it.
JSON lines have event: waiting (address, namespace, why), started (store, or address and namespace; deployment, taskQueue, workflowTypes, activityTypes, nexusServices), replaced (checkedRuns, broken, changed, pausedMs), activitiesReplaced, refused (why, message, problems), stopped. Output of activities is mixed with these lines: let activities log with console.error.`,
  exits: [
    "0 after Ctrl-C or SIGTERM",
    "1 when the worker stopped by itself, or the store or the cluster cannot be used",
    "2 for wrong usage or modules that do not load",
  ],
  examples: [
    {
      line:
        "temporalex worker --address temporal:7233 --workflows ./workflows.ts --activities ./activities.ts --listen 0.0.0.0:9464",
      what: "with probes and metrics, in a container",
    },
    {
      line:
        "temporalex worker --store shop.sqlite --workflows ./workflows.ts --activities ./activities.ts --watch",
    },
    {
      line:
        "temporalex worker --address localhost:7233 --workflows ./workflows.ts --task-queue orders",
      what: "only the workflows, for a cluster",
    },
  ],
  run: async (call) => (await import("./run.ts")).workerCommand(call),
});
