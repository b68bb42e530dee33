// Messages for methods of Temporal's API that the embedded engine lacks: what to use instead, by a
// pattern of the method's name.

const ELSEWHERE = "a Temporal cluster has it";

/** The first match counts. Names are those of WorkflowService and OperatorService. */
const INSTEAD: readonly (readonly [method: RegExp, what: string])[] = [
  [
    /Archived|ListTaskQueuePartitions|AdminService/,
    "archives and partitions: all data is in one store until it is removed",
  ],
  [
    /NexusOperation/,
    "Nexus operations without a workflow: start a workflow that calls the operation",
  ],
  [
    /Nexus/,
    "Nexus: call an activity that starts the other workflow with a client, or use temporalex dev or a Temporal cluster",
  ],
  [/WorkflowRule/, "workflow rules: cancel, terminate or signal the workflows that a list finds"],
  [/TimeSkipping/, "time skipping: test with temporalex/testing, whose time is virtual"],
  [
    /ComputeConfig/,
    "workers that a server starts: start them with a process manager",
  ],
  [
    /CreateWorkerDeployment/,
    "requests that create worker deployments: a worker that polls creates its deployment and version, in temporalex dev",
  ],
  [
    /WorkerDeployment/,
    "worker deployments next to workers in its process: patch workflow code (patched, deprecatePatch), or use temporalex dev or a Temporal cluster",
  ],
  [
    /Deployment|Versioning|BuildId|TaskReachability/,
    "the versioning before worker deployments: use worker deployments (temporalex dev), or patch workflow code (patched, deprecatePatch)",
  ],
  [
    /PauseWorkflow|UnpauseWorkflow/,
    `pausing of workflows: signal the workflow to wait, or use a Temporal cluster`,
  ],
  [
    /WorkerConfig/,
    "configuration of workers from outside: restart the worker with other options",
  ],
  [
    /Namespace/,
    "namespaces that are registered, changed or deleted: the server of temporalex dev has them",
  ],
  [/Cluster/, "other clusters: it is one process with one store"],
];

/** `method`: as in WorkflowService or protobuf-es, "ListSchedules" or "listSchedules". */
export function notOffered(method: string): string {
  const name = method[0]!.toUpperCase() + method.slice(1);
  const instead = INSTEAD.find(([pattern]) => pattern.test(name))?.[1];
  return instead === undefined
    ? `the embedded engine does not have ${name}; ${ELSEWHERE}`
    : `the embedded engine does not have ${instead} (${name})`;
}
