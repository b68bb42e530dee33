// Options of the command and the type of its call.
import { codecOption } from "../../service/codec_option.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";
import type { Call, Options } from "../../frame/command.ts";
import { VALUES_OPTIONS } from "../../service/values_options.ts";
import { PAYLOAD_CONVERTER, WORKFLOW_MODULES } from "../../service/workflow_modules_options.ts";

const WHICH = "Histories of a cluster or store";
const REPORTS = "Reports";
const VERSIONS = "Search for the version that broke the replay";

const { store: _, codec: __, ...CLUSTER } = SERVICE_OPTIONS;

export const options = {
  ...WORKFLOW_MODULES,
  payloadConverter: PAYLOAD_CONVERTER,
  codec: codecOption,
  strict: {
    type: "flag",
    help:
      "Fail on extra commands at the end of a task and on swapped update IDs, instead of warning",
  },
  jobs: {
    type: "number",
    short: "j",
    value: "n",
    help:
      "Number of threads that replay. Default: up to one per CPU core, by the number of histories",
  },
  ...VALUES_OPTIONS,
  fromCluster: {
    section: WHICH,
    type: "text",
    value: "query",
    help:
      "Runs of a cluster that match this list filter, for example 'ExecutionStatus = \"Running\"'. Default address: TEMPORAL_ADDRESS, else localhost:7233",
  },
  store: {
    section: WHICH,
    type: "text",
    value: "file",
    completes: "files",
    help: "All runs of a store file, which can be open in another process; read-only",
  },
  open: { section: WHICH, type: "flag", help: "With --store: only open runs" },
  sample: {
    section: WHICH,
    type: "number",
    value: "n",
    help: "Maximum number of runs per workflow type and build, chosen at random",
  },
  seed: {
    section: WHICH,
    type: "text",
    value: "text",
    default: "",
    help: "Seed of --sample; the same seed selects the same runs",
  },
  bisect: {
    section: VERSIONS,
    type: "text",
    value: "revisions",
    help:
      "Find the first of these git revisions that does not replay the histories: v1.2..main, or v1.2 for all revisions up to the working directory",
  },
  versions: {
    section: VERSIONS,
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help:
      "Find the first of these modules that does not replay the histories: one per version, oldest first, instead of --workflows",
  },
  junit: {
    section: REPORTS,
    type: "text",
    value: "file",
    completes: "files",
    help: "Write a JUnit report with a test case per history",
  },
  sarif: {
    section: REPORTS,
    type: "text",
    value: "file",
    completes: "files",
    help: "Write a SARIF report with a result per diverging line",
  },
  html: {
    section: REPORTS,
    type: "text",
    value: "file",
    completes: "files",
    help:
      "Write a report as one self-contained HTML file: all events of one history, or a table and the divergences of several. Values are replaced with others of the same length",
  },
  htmlValues: {
    section: REPORTS,
    type: "flag",
    help: "With --html: show values as recorded",
  },
  htmlKey: {
    section: REPORTS,
    type: "text",
    value: "pattern",
    many: true,
    help: "With --html: replace only values under keys that match this regular expression",
  },
  htmlMatch: {
    section: REPORTS,
    type: "text",
    value: "pattern",
    many: true,
    help:
      "With --html: replace only texts that match this regular expression, decoded or in base64",
  },
  htmlNumbers: {
    section: REPORTS,
    type: "flag",
    help: "With --html: also replace numbers",
  },
  htmlTaskQueues: {
    section: REPORTS,
    type: "flag",
    help: "With --html: also replace names of task queues",
  },
  htmlKeep: {
    section: REPORTS,
    type: "text",
    value: "text",
    many: true,
    help: "With --html: keep this text",
  },
  github: {
    section: REPORTS,
    type: "flag",
    help:
      "Print annotations for GitHub Actions at diverging lines. Paths are relative to GITHUB_WORKSPACE, else to the working directory",
  },
  ...CLUSTER,
} as const satisfies Options;

export type ReplayCall = Call<typeof options>;
