// Options of the command and the type of its call.
import { codecOption } from "../../service/codec_option.ts";
import type { Call, Options } from "../../frame/command.ts";
import { DEFAULT_STORE, SERVICE_OPTIONS } from "../../service/options.ts";
import { VALUES_OPTIONS } from "../../service/values_options.ts";
import { PAYLOAD_CONVERTER, WORKFLOW_MODULES } from "../../service/workflow_modules_options.ts";

const { timeout: _, ...SERVICE } = SERVICE_OPTIONS;
export const options = {
  ...SERVICE,
  store: {
    ...SERVICE.store,
    help:
      `SQLite file in which everything is kept; it is created when missing. This process holds it, and other commands reach it through this one. Default: ./${DEFAULT_STORE}`,
  },
  retention: {
    type: "duration",
    value: "duration",
    help:
      "Remove closed runs with their histories this long after they closed, for instance 30d; with a store. Default: keep them",
  },
  identity: { ...SERVICE.identity, help: "Identity of the worker in histories" },
  taskQueue: {
    type: "text",
    short: "t",
    value: "name",
    default: "default",
    help: "The queue whose tasks this worker takes",
  },
  ...WORKFLOW_MODULES,
  activities: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: "A module whose exported functions are activities. They run in a separate thread",
  },
  nexusServices: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help:
      "On a cluster: a module that exports Nexus services (nexus.serviceHandler of nexus-rpc), whose operations this worker handles",
  },
  codec: codecOption,
  payloadConverter: {
    ...PAYLOAD_CONVERTER,
    help:
      "A module that exports payloadConverter: for values of workflows and activities; clients need the same",
  },
  activityThreads: {
    type: "number",
    value: "n",
    help:
      "Run activities one at a time in each of so many threads: for activities that compute. Default: many at once in one thread",
  },
  workflowThreads: {
    type: "number",
    value: "n",
    default: 1,
    help: "Threads that share the runs between them: where workflow code keeps a core busy",
  },
  deployment: {
    type: "text",
    value: "name.build",
    help:
      "The version of a worker deployment that this worker is, for instance shop.v7; a cluster then routes runs by version",
  },
  versioningBehavior: {
    type: "text",
    value: "behavior",
    choices: ["PINNED", "AUTO_UPGRADE"],
    help: "With --deployment: the default for workflows that do not set one",
  },
  watch: {
    type: "flag",
    help:
      "Take changed code over while the worker runs. Workflow code goes live when every open run of the queue has replayed against it, " +
      "and is refused with the run and the line otherwise",
  },
  values: {
    ...VALUES_OPTIONS.values,
    help:
      "With --watch: report values of open runs that changed code changes and no replay compares: arguments, results, durations, options, memo, search attributes. The report contains both values. warn reports them; error rejects the code. Without a value: warn",
  },
  valuesRules: VALUES_OPTIONS.valuesRules,
  listen: {
    type: "text",
    value: "[host:]port",
    help:
      "Serve /healthz, /readyz and /metrics (for Prometheus) over HTTP there; a port alone is on 127.0.0.1. In a container: 0.0.0.0:9464",
  },
  crashNotes: {
    type: "text",
    value: "folder",
    completes: "folders",
    help:
      "On a cluster: note there whose workflow tasks are running, so that the next start says on which runs this process died; none: do not. Default: temporalex in your folder for state (Linux: ~/.local/state)",
  },
  maxActivities: { type: "number", value: "n", default: 100, help: "Activities running at once" },
  maxWorkflowTasks: {
    type: "number",
    value: "n",
    default: 100,
    help: "Maximum workflow tasks at a time",
  },
  grace: {
    type: "duration",
    default: "5s",
    help: "Time for running activities to finish after Ctrl-C, before they are canceled",
  },
} as const satisfies Options;

export type WorkerCall = Call<typeof options>;
