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
    help: "Also replay every run whose workflow type these modules define",
  },
} as const satisfies Options;
export type CheckCall = Call<typeof storeCheckOptions>;

export const purgeOptions = {
  ...STORE,
  olderThan: {
    type: "duration",
    value: "duration",
    help: "Runs that closed longer ago than this, for instance 30d",
  },
  query: {
    type: "text",
    short: "q",
    value: "query",
    help: 'Only runs that this list filter selects, for instance WorkflowType = "Cart"',
  },
  dryRun: {
    type: "flag",
    help: "Say what would be removed, and remove nothing. Works while a process has the store open",
  },
  keepSpace: {
    type: "flag",
    help: "Leave the freed space in the file, for new runs, instead of giving it back",
  },
} as const satisfies Options;
export type PurgeCall = Call<typeof purgeOptions>;

export const exportOptions = {
  ...SERVICE_OPTIONS,
  workflowId: { type: "text", short: "w", value: "id", help: "The run of this workflow id" },
  runId: { type: "text", short: "r", value: "id", help: "This run of it. Default: the latest" },
  query: {
    type: "text",
    short: "q",
    value: "query",
    help: "All runs that this list filter selects. Default: all runs",
  },
  to: {
    type: "text",
    value: "path",
    completes: "files",
    help:
      "A folder (one that is there, or a new one with / at its end) gets a JSON file for each run; a file gets a JSON line for each run. Default, and for -, JSON lines on standard output",
  },
} as const satisfies Options;
export type ExportCall = Call<typeof exportOptions>;

export const importOptions = {
  ...STORE,
  workflowId: {
    type: "text",
    short: "w",
    value: "id",
    help: "Workflow id of a history that does not name it (servers before 1.25)",
  },
  runId: {
    type: "text",
    short: "r",
    value: "id",
    help:
      "Run id of the one history that is imported, where it does not name it. Lines of store export name theirs",
  },
  closedOnly: { type: "flag", help: "Leave open runs out instead of refusing the import" },
  skipExisting: {
    type: "flag",
    help: "Leave runs out that are in the store already instead of refusing the import",
  },
  dryRun: { type: "flag", help: "Check everything, and import nothing" },
} as const satisfies Options;
export type ImportCall = Call<typeof importOptions>;
