// Options of the commands and the types of their calls.
import type { Call, Options } from "../../frame/command.ts";
import {
  INPUT_OPTIONS,
  RUN_ID,
  SERVICE_OPTIONS,
  TIME_FORMAT,
  WORKFLOW_ID,
} from "../../service/options.ts";

/** Options of a start. */
export const START_OPTIONS = {
  type: { type: "text", value: "name", aliases: ["name"], required: true, help: "Workflow type" },
  taskQueue: {
    type: "text",
    short: "t",
    value: "name",
    default: "default",
    help: "Task queue",
  },
  workflowId: {
    type: "text",
    short: "w",
    value: "id",
    help: "Workflow ID; use a business key to make starts idempotent. Default: random",
  },
  ...INPUT_OPTIONS,
  idConflictPolicy: {
    type: "text",
    value: "policy",
    choices: ["Fail", "UseExisting", "TerminateExisting"],
    help: "Action if a workflow with this ID is running. Default: Fail",
  },
  idReusePolicy: {
    type: "text",
    value: "policy",
    choices: ["AllowDuplicate", "AllowDuplicateFailedOnly", "RejectDuplicate"],
    help: "Whether the ID of a closed workflow can be used again. Default: AllowDuplicate",
  },
  executionTimeout: {
    type: "duration",
    value: "duration",
    help: "Time limit of the workflow, including retries and continue-as-new",
  },
  runTimeout: { type: "duration", value: "duration", help: "Time limit of one run" },
  taskTimeout: { type: "duration", value: "duration", help: "Time limit of one workflow task" },
  startDelay: { type: "duration", value: "duration", help: "Delay before the first workflow task" },
  cron: {
    type: "text",
    value: "expression",
    help:
      'Cron schedule of repeated runs: "0 12 * * *", "@daily", "CRON_TZ=Europe/Berlin 30 8 * * *"',
  },
  memo: {
    type: "text",
    value: "key=json",
    many: true,
    help: "Memo: data that describe and list show",
  },
  searchAttribute: {
    type: "text",
    value: "key=json",
    many: true,
    help: "Search attribute: data that --query can filter by",
  },
  entity: {
    type: "text",
    value: "id",
    help: "Entity that the workflow belongs to; list it with list --entity",
  },
  correlation: {
    type: "text",
    value: "id",
    help: "Group of the workflow; cancel the group with cancel --correlation",
  },
  timers: {
    type: "text",
    value: "how",
    choices: ["due", "manual"],
    default: "due",
    help: "manual: timers fire only with workflow fire-timer. Not on a cluster",
  },
  staticSummary: {
    type: "text",
    value: "text",
    help: "One-line description for user interfaces",
  },
  staticDetails: {
    type: "text",
    value: "text",
    help: "Multi-line description for user interfaces",
  },
} as const satisfies Options;

export const start = { ...START_OPTIONS, ...SERVICE_OPTIONS } as const satisfies Options;
export type StartCall = Call<typeof start>;

const one = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  ...SERVICE_OPTIONS,
} as const satisfies Options;

const QUERY = {
  type: "text",
  short: "q",
  value: "query",
  help: `List filter, for example 'ExecutionStatus = "Running" AND WorkflowType = "Cart"'`,
} as const;

/** In place of a query, or in addition to one. */
const BELONGING = {
  entity: { type: "text", value: "id", help: "Only workflows of this entity" },
  correlation: { type: "text", value: "id", help: "Only workflows of this group" },
} as const satisfies Options;

/** One workflow by id, or all that a query selects. */
const SOME = {
  workflowId: {
    ...WORKFLOW_ID,
    required: false,
    help: "Workflow ID. Required: this, --query, --entity or --correlation",
  },
  ...BELONGING,
  runId: RUN_ID,
  query: { ...QUERY, help: `All open workflows that match, for example 'WorkflowType = "Cart"'` },
  yes: {
    type: "flag",
    short: "y",
    help: "Do not ask for confirmation with --query, --entity or --correlation",
  },
} as const satisfies Options;

const NAME = { type: "text", value: "name", aliases: ["type"], required: true } as const;

export const signalOptions = {
  ...SOME,
  name: { ...NAME, help: "Signal name" },
  ...INPUT_OPTIONS,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type SignalCall = Call<typeof signalOptions>;

export const broadcastOptions = {
  signal: { type: "text", value: "name", aliases: ["name"], required: true, help: "Signal name" },
  filter: {
    type: "text",
    value: "json",
    help:
      "Only workflows that subscribed with this filter (a string, number or boolean) or without one. Default: all subscribed workflows",
  },
  ...INPUT_OPTIONS,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type BroadcastCall = Call<typeof broadcastOptions>;

export const end = {
  ...SOME,
  reason: { type: "text", value: "text", help: "Reason, recorded in the history" },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type EndCall = Call<typeof end>;

export const remove = {
  ...SOME,
  query: {
    ...QUERY,
    help: `All workflows that match, open and closed, for example 'WorkflowType = "Cart"'`,
  },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type DeleteCall = Call<typeof remove>;

export const reset = {
  ...one,
  eventId: {
    type: "number",
    short: "e",
    value: "n",
    help: "Reset to this event, the end of a workflow task",
  },
  type: {
    type: "text",
    short: "t",
    value: "point",
    choices: ["FirstWorkflowTask", "LastWorkflowTask", "LastContinuedAsNew"],
    help:
      "Reset to the first or last workflow task, or to the last one of the run that continued as this run",
  },
  buildId: {
    type: "text",
    value: "id",
    help: "Reset to the first workflow task that this build completed",
  },
  reason: { type: "text", value: "text", required: true, help: "Reason, recorded in the history" },
  reapplyExclude: {
    type: "text",
    value: "kind",
    many: true,
    choices: ["All", "Signal", "Update", "Nexus", "CancelRequest"],
    help:
      "Events after the reset point that are not reapplied to the new run. Default: all are reapplied",
  },
} as const satisfies Options;
export type ResetCall = Call<typeof reset>;

const { startDelay: _delay, cron: _cron, ...startable } = START_OPTIONS;
export const updateWithStartOptions = {
  ...startable,
  workflowId: WORKFLOW_ID,
  idConflictPolicy: {
    ...START_OPTIONS.idConflictPolicy,
    help:
      "Action if a workflow with this ID is running. Default: UseExisting, which sends it the update",
  },
  updateName: { type: "text", value: "name", required: true, help: "Update name" },
  updateInput: {
    type: "text",
    value: "json",
    many: true,
    help: "An argument of the update, as JSON",
  },
  updateId: {
    type: "text",
    value: "id",
    help: "Update ID; an update with the same ID runs once. Default: random",
  },
  waitForStage: {
    type: "text",
    value: "stage",
    aliases: ["updateWaitForStage"],
    choices: ["accepted", "completed"],
    default: "completed",
    help: "Stage to wait for",
  },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type UpdateWithStartCall = Call<typeof updateWithStartOptions>;

export const updateOptions = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  name: { ...NAME, help: "Update name" },
  updateId: {
    type: "text",
    value: "id",
    help: "Update ID; an update with the same ID runs once. Default: random",
  },
  ...INPUT_OPTIONS,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type UpdateCall = Call<typeof updateOptions>;

export const updateStart = {
  ...updateOptions,
  waitForStage: {
    type: "text",
    value: "stage",
    choices: ["accepted"],
    default: "accepted",
    help: "Stage to wait for",
  },
} as const satisfies Options;
export type UpdateStartCall = Call<typeof updateStart>;

export const updateResult = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  updateId: { type: "text", value: "id", required: true, help: "Update ID" },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type UpdateResultCall = Call<typeof updateResult>;

export const procedureList = { ...one, timeFormat: TIME_FORMAT } as const satisfies Options;
export type ProcedureListCall = Call<typeof procedureList>;

const { codec: _codec, identity: _identity, timeout: _timeout, ...WHERE } = SERVICE_OPTIONS;
export const fireTimerOptions = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  name: { ...NAME, help: "Name or ID of the timer. If several are open, the oldest one fires" },
  ...WHERE,
} as const satisfies Options;
export type FireTimerCall = Call<typeof fireTimerOptions>;

const PROCEDURE = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  name: {
    type: "text",
    value: "name",
    help:
      "Name of the procedure. If several are open, the oldest one. Required: this or --procedure-id",
  },
  procedureId: {
    type: "text",
    value: "id",
    help: "ID of the procedure; see workflow procedure list",
  },
} as const satisfies Options;

export const procedureComplete = {
  ...PROCEDURE,
  ...INPUT_OPTIONS,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type ProcedureCompleteCall = Call<typeof procedureComplete>;

export const procedureFail = {
  ...PROCEDURE,
  reason: {
    type: "text",
    value: "text",
    required: true,
    help: "Reason, passed to the workflow's code",
  },
  type: { type: "text", value: "name", help: "Failure type. Default: ProcedureFailed" },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type ProcedureFailCall = Call<typeof procedureFail>;

const REJECT_CONDITION = {
  type: "text",
  value: "condition",
  choices: ["not_open", "not_completed_cleanly"],
  help:
    "Reject the query if the workflow is closed (not_open), or if it closed without completing (not_completed_cleanly)",
} as const;

export const queryOptions = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  name: { ...NAME, help: "Query name" },
  ...INPUT_OPTIONS,
  rejectCondition: REJECT_CONDITION,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type QueryCall = Call<typeof queryOptions>;

const asked = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  rejectCondition: REJECT_CONDITION,
} as const;
export const stack = {
  ...asked,
  enhanced: { type: "flag", help: "Print files, lines and columns as JSON" },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type StackCall = Call<typeof stack>;

export const metadata = { ...asked, ...SERVICE_OPTIONS } as const satisfies Options;
export type MetadataCall = Call<typeof metadata>;

export const release = one;
export type ReleaseCall = Call<typeof release>;

export const describeOptions = { ...one, timeFormat: TIME_FORMAT } as const satisfies Options;
export type DescribeCall = Call<typeof describeOptions>;

export const listOptions = {
  query: QUERY,
  ...BELONGING,
  limit: { type: "number", value: "n", help: "Maximum number of workflows" },
  pageSize: {
    type: "number",
    value: "n",
    help: "Workflows per request. Default: the limit of the service",
  },
  timeFormat: TIME_FORMAT,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type ListCall = Call<typeof listOptions>;

export const countOptions = {
  query: QUERY,
  ...BELONGING,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type CountCall = Call<typeof countOptions>;

export const showOptions = {
  ...one,
  follow: { type: "flag", short: "f", help: "Print new events until the run closes" },
  detailed: { type: "flag", help: "Show all fields of each event" },
  decode: {
    type: "flag",
    help: "With --codec: decode payloads in JSON output, too. Default: payloads stay encoded",
  },
} as const satisfies Options;
export type ShowCall = Call<typeof showOptions>;

export const result = {
  ...one,
  followRuns: {
    type: "text",
    value: "true|false",
    choices: ["true", "false"],
    default: "true",
    help: "Follow the chain of continue-as-new to the last run",
  },
} as const satisfies Options;
export type ResultCall = Call<typeof result>;

export const failedExits = [
  "0 the workflow completed",
  "1 the workflow failed, was canceled or terminated, timed out, or its result could not be read",
  "2 wrong usage",
];
