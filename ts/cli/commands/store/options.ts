// Options of the commands and the types of their calls.
import type { Call, Options } from "../../frame/command.ts";
import { SERVICE_OPTIONS } from "../../service/options.ts";

const { store } = SERVICE_OPTIONS;
export const STORE = {
  store: { ...store, help: "Store file. Default: ./temporalex.sqlite" },
} as const satisfies Options;
export type BackupCall = Call<typeof STORE>;

export const storeCheckOptions = {
  ...STORE,
  workflows: {
    type: "text",
    value: "module",
    many: true,
    completes: "files",
    help: "Also replay each run whose workflow type is in these modules",
  },
} as const satisfies Options;
export type CheckCall = Call<typeof storeCheckOptions>;

export const purgeOptions = {
  ...STORE,
  olderThan: {
    type: "duration",
    value: "duration",
    help: "Only runs that closed longer ago than this, for example 30d",
  },
  query: {
    type: "text",
    short: "q",
    value: "query",
    help: 'Only runs that match this list filter, for example WorkflowType = "Cart"',
  },
  dryRun: {
    type: "flag",
    help:
      "Report what would be removed, without removing it. Works while another process has the store open",
  },
  keepSpace: {
    type: "flag",
    help: "Keep the freed space in the file for new runs",
  },
} as const satisfies Options;
export type PurgeCall = Call<typeof purgeOptions>;

export const exportOptions = {
  ...SERVICE_OPTIONS,
  workflowId: { type: "text", short: "w", value: "id", help: "Workflow ID" },
  runId: {
    type: "text",
    short: "r",
    value: "id",
    help: "Run ID. Default: the latest run of the workflow",
  },
  query: {
    type: "text",
    short: "q",
    value: "query",
    help: "Only runs that match this list filter. Default: all runs",
  },
  to: {
    type: "text",
    value: "path",
    completes: "files",
    help:
      "A folder (existing, or new if the path ends in /): one JSON file per run. A file: one JSON line per run. Default, and with -: JSON lines on standard output",
  },
} as const satisfies Options;
export type ExportCall = Call<typeof exportOptions>;

const { store: _, codec: __, ...CLUSTER } = SERVICE_OPTIONS;
const FROM = "Runs of a cluster";

export const importOptions = {
  ...STORE,
  workflowId: {
    type: "text",
    short: "w",
    value: "id",
    help: "Workflow ID, if the history does not contain it (servers before 1.25)",
  },
  runId: {
    type: "text",
    short: "r",
    value: "id",
    help: "Run ID, if the imported history does not contain it. Lines of store export contain it",
  },
  open: {
    type: "flag",
    help:
      "Also import open runs, to continue them in this store. Their workers elsewhere must have stopped",
  },
  closedOnly: { type: "flag", help: "Skip open runs instead of rejecting the import" },
  skipExisting: {
    type: "flag",
    help: "Skip runs that are already in the store instead of rejecting the import",
  },
  dryRun: { type: "flag", help: "Check everything without importing it" },
  fromCluster: {
    section: FROM,
    type: "text",
    value: "query",
    help:
      "Import runs of a cluster that match this list filter; an empty filter selects all. Default address: TEMPORAL_ADDRESS, else localhost:7233",
  },
  terminateSource: {
    section: FROM,
    type: "flag",
    help: "With --open: terminate each imported open run in the cluster after its import",
  },
  ...CLUSTER,
  address: { ...CLUSTER.address, help: "Address of the cluster of --from-cluster" },
} as const satisfies Options;
export type ImportCall = Call<typeof importOptions>;
