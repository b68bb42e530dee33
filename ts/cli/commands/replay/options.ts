// Options of the command and the type of its call.
import { codecOption } from "../../service/codec_option.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";
import type { Call, Options } from "../../frame/command.ts";
import { VALUES_OPTIONS } from "../../service/values_options.ts";
import { PAYLOAD_CONVERTER, WORKFLOW_MODULES } from "../../service/workflow_modules_options.ts";

const WHICH = "Histories from elsewhere";
const REPORTS = "Reports";
const VERSIONS = "Which version broke it";

const { store: _, codec: __, ...CLUSTER } = SERVICE_OPTIONS;

export const options = {
  ...WORKFLOW_MODULES,
  payloadConverter: PAYLOAD_CONVERTER,
  codec: codecOption,
  strict: {
    type: "flag",
    help:
      "Extra commands at the end of a task, and swapped update ids, fail the replay instead of being warnings",
  },
  jobs: {
    type: "number",
    short: "j",
    value: "n",
    help:
      "Realms that replay at the same time, each in a thread. Default: as many as pay, at most one for each core",
  },
  ...VALUES_OPTIONS,
  fromCluster: {
    section: WHICH,
    type: "text",
    value: "query",
    help:
      "The runs of a cluster that this list filter selects, for instance 'ExecutionStatus = \"Running\"'; without --address the cluster of TEMPORAL_ADDRESS, else localhost:7233",
  },
  store: {
    section: WHICH,
    type: "text",
    value: "file",
    completes: "files",
    help: "All runs of a store file, also while a process has it open; nothing is written",
  },
  open: { section: WHICH, type: "flag", help: "Of the store only runs that are open" },
  sample: {
    section: WHICH,
    type: "number",
    value: "n",
    help: "Of a cluster's or store's runs at most so many for each workflow type and build",
  },
  seed: {
    section: WHICH,
    type: "text",
    value: "text",
    default: "",
    help:
      "Another text makes another sample; the same one the same, as long as the runs are the same",
  },
  bisect: {
    section: VERSIONS,
    type: "text",
    value: "revisions",
    help:
      "The first of these git revisions whose workflow code does not replay the histories: v1.2..main, or v1.2 for all up to the files as they are now",
  },
  versions: {
    section: VERSIONS,
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help:
      "In place of --workflows, once for each version, the oldest first: the first one that does not replay the histories",
  },
  junit: {
    section: REPORTS,
    type: "text",
    value: "file",
    completes: "files",
    help: "Write a JUnit report: a test case for each history",
  },
  sarif: {
    section: REPORTS,
    type: "text",
    value: "file",
    completes: "files",
    help: "Write a SARIF report: a result for each line that diverges",
  },
  html: {
    section: REPORTS,
    type: "text",
    value: "file",
    completes: "files",
    help:
      "Write a report for people: one self-contained HTML file: for one history all events, for several a table and the divergences. Values are replaced by others of the same length",
  },
  htmlValues: {
    section: REPORTS,
    type: "flag",
    help: "The report of --html shows values as they were recorded",
  },
  htmlKey: {
    section: REPORTS,
    type: "text",
    value: "pattern",
    many: true,
    help:
      "The report of --html replaces values under keys that match this regular expression alone",
  },
  htmlMatch: {
    section: REPORTS,
    type: "text",
    value: "pattern",
    many: true,
    help:
      "The report of --html replaces texts that match this regular expression, or whose base64 does, alone",
  },
  htmlNumbers: {
    section: REPORTS,
    type: "flag",
    help: "The report of --html replaces numbers, too",
  },
  htmlTaskQueues: {
    section: REPORTS,
    type: "flag",
    help: "The report of --html replaces names of task queues, too",
  },
  htmlKeep: {
    section: REPORTS,
    type: "text",
    value: "text",
    many: true,
    help: "The report of --html leaves this text as it is",
  },
  github: {
    section: REPORTS,
    type: "flag",
    help:
      "Annotations for GitHub Actions at the lines that diverge; files are named relative to GITHUB_WORKSPACE, else to the working directory",
  },
  ...CLUSTER,
} as const satisfies Options;

export type ReplayCall = Call<typeof options>;
