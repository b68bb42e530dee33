import { command } from "../../frame/command.ts";
import { options } from "./options.ts";

export const worker = command({
  summary: "run a worker, optionally with hot reload",
  description:
    `Runs workflows and activities of a task queue until Ctrl-C. Modules can be TypeScript; no build step is needed, in Node and in Deno.
The first Ctrl-C stops polling and lets running tasks finish. The second one ends the process immediately; acknowledged work is not lost.`,
  options,
  lines: true,
  drains: true,
  notes:
    `With --watch, a change that breaks the replay of an open run is rejected. The message states the run, the event of its history and the line of the new code. The worker continues with the old code until the next change.
With --listen: /healthz returns 200 until the worker has stopped; /readyz returns 200 while the worker polls, else 503; /metrics uses the metric names of Temporal's SDKs. Responses contain no IDs and no payloads. Web pages cannot read them (no CORS).
With --address, the worker logs what it waits for until the cluster is reachable and the namespace exists. It ends if the cluster rejects the namespace, the key or the certificate.
JSON lines have event: waiting (address, namespace, why), started (store, or address and namespace; deployment, taskQueue, workflowTypes, activityTypes, nexusServices), replaced (checkedRuns, broken, changed, pausedMs), activitiesReplaced, refused (why, message, problems), stopped. Output of activities is mixed with these lines; activities should log with console.error.`,
  exits: [
    "0 Ctrl-C or SIGTERM",
    "1 the worker stopped with an error, or the store or the cluster cannot be used",
    "2 wrong usage, or modules that do not load",
  ],
  examples: [
    {
      line:
        "temporalex worker --address temporal:7233 --workflows ./workflows.ts --activities ./activities.ts --listen 0.0.0.0:9464",
      what: "in a container, with probes and metrics",
    },
    {
      line:
        "temporalex worker --store shop.sqlite --workflows ./workflows.ts --activities ./activities.ts --watch",
    },
    {
      line:
        "temporalex worker --address localhost:7233 --workflows ./workflows.ts --task-queue orders",
      what: "workflows only, on a cluster",
    },
  ],
  run: async (call) => (await import("./run.ts")).workerCommand(call),
});
