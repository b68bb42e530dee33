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
      `SQLite store file, created if missing. Other commands connect to it through this process. Default: ./${DEFAULT_STORE}`,
  },
  retention: {
    type: "duration",
    value: "duration",
    help:
      "With a store: remove closed runs and their histories this long after they closed, for example 30d. Default: never",
  },
  identity: { ...SERVICE.identity, help: "Identity of the worker, recorded in histories" },
  taskQueue: {
    type: "text",
    short: "t",
    value: "name",
    default: "default",
    help: "Task queue to poll",
  },
  ...WORKFLOW_MODULES,
  activities: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: "Module whose exported functions are activities, which run in a separate thread",
  },
  nexusServices: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: "On a cluster: module that exports Nexus services (nexus.serviceHandler of nexus-rpc)",
  },
  codec: codecOption,
  payloadConverter: {
    ...PAYLOAD_CONVERTER,
    help:
      "Module that exports payloadConverter, for values of workflows and activities; clients need the same",
  },
  activityThreads: {
    type: "number",
    value: "n",
    help:
      "Number of activity threads, each running one activity at a time: for CPU-bound activities. Default: one thread that runs many at a time",
  },
  workflowThreads: {
    type: "number",
    value: "n",
    default: 1,
    help: "Number of workflow threads, which share the runs: for CPU-bound workflow code",
  },
  deployment: {
    type: "text",
    value: "name.build",
    help:
      "Deployment version of this worker, for example shop.v7; the cluster routes runs by version",
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
      "Hot-reload changed code. New workflow code is used after each open run of the queue has replayed against it; " +
      "a change that breaks a run is rejected with the run and the line",
  },
  values: {
    ...VALUES_OPTIONS.values,
    help:
      "With --watch: compare values of open runs that a replay ignores (arguments, results, durations, options, memo, search attributes) and report both values if they differ. warn: report; error: reject the code. Without a value: warn",
  },
  valuesRules: VALUES_OPTIONS.valuesRules,
  listen: {
    type: "text",
    value: "[host:]port",
    help:
      "Serve /healthz, /readyz and /metrics (Prometheus) over HTTP. Default host: 127.0.0.1; in a container use 0.0.0.0:9464",
  },
  crashNotes: {
    type: "text",
    value: "folder",
    completes: "folders",
    help:
      "On a cluster: folder for the IDs of runs whose workflow tasks are running. After a crash, the next start reports the runs that may have caused it. none: disabled. Default: temporalex in your state folder (Linux: ~/.local/state)",
  },
  maxActivities: {
    type: "number",
    value: "n",
    default: 100,
    help: "Maximum concurrent activities",
  },
  maxWorkflowTasks: {
    type: "number",
    value: "n",
    default: 100,
    help: "Maximum concurrent workflow tasks",
  },
  grace: {
    type: "duration",
    default: "5s",
    help: "Time for running activities to finish after Ctrl-C, before they are canceled",
  },
} as const satisfies Options;

export type WorkerCall = Call<typeof options>;
