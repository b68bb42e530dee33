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
    help: "Queue whose workers run it",
  },
  workflowId: {
    type: "text",
    short: "w",
    value: "id",
    help: "Workflow id; a business key makes starts idempotent. Default: a random one",
  },
  ...INPUT_OPTIONS,
  idConflictPolicy: {
    type: "text",
    value: "policy",
    choices: ["Fail", "UseExisting", "TerminateExisting"],
    help: "What happens when a workflow with this id is running. Default: Fail",
  },
  idReusePolicy: {
    type: "text",
    value: "policy",
    choices: ["AllowDuplicate", "AllowDuplicateFailedOnly", "RejectDuplicate"],
    help:
      "Whether an id may be taken again when its last workflow has ended. Default: AllowDuplicate",
  },
  executionTimeout: {
    type: "duration",
    value: "duration",
    help: "Limit of the workflow, with all its retries and continuations",
  },
  runTimeout: { type: "duration", value: "duration", help: "Limit of one run" },
  taskTimeout: { type: "duration", value: "duration", help: "Limit of one workflow task" },
  startDelay: { type: "duration", value: "duration", help: "Time before the first workflow task" },
  memo: { type: "text", value: "key=json", many: true, help: "Data that describe and list show" },
  searchAttribute: {
    type: "text",
    value: "key=json",
    many: true,
    help: "Data that --query can select by",
  },
  entity: { type: "text", value: "id", help: "What it works for; list --entity finds all of it" },
  correlation: {
    type: "text",
    value: "id",
    help: "What groups it with others; cancel --correlation ends all of it",
  },
  timers: {
    type: "text",
    value: "how",
    choices: ["due", "manual"],
    default: "due",
    help: "manual: its timers fire when workflow fire-timer says so; not on a cluster",
  },
  staticSummary: {
    type: "text",
    value: "text",
    help: "One line for people, shown by user interfaces",
  },
  staticDetails: { type: "text", value: "text", help: "More lines for people" },
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
  help: `Which workflows, for instance 'ExecutionStatus = "Running" AND WorkflowType = "Cart"'`,
} as const;

/** In place of a query, or in addition to one. */
const BELONGING = {
  entity: { type: "text", value: "id", help: "Those that work for this entity" },
  correlation: { type: "text", value: "id", help: "Those of this group" },
} as const satisfies Options;

/** One workflow by id, or all that a query selects. */
const SOME = {
  workflowId: {
    ...WORKFLOW_ID,
    required: false,
    help: "Workflow id; this, --query, --entity or --correlation is required",
  },
  ...BELONGING,
  runId: RUN_ID,
  query: { ...QUERY, help: `All open workflows that match, for instance 'WorkflowType = "Cart"'` },
  yes: {
    type: "flag",
    short: "y",
    help: "Do not ask before it is done to all that --query selects",
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
      "Those with this filter and those without one: a text, a number or a boolean. Default: all that have subscribed",
  },
  ...INPUT_OPTIONS,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type BroadcastCall = Call<typeof broadcastOptions>;

export const end = {
  ...SOME,
  reason: { type: "text", value: "text", help: "Why; histories show it" },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type EndCall = Call<typeof end>;

export const remove = {
  ...SOME,
  query: {
    ...QUERY,
    help: `All workflows that match, open ones too, for instance 'WorkflowType = "Cart"'`,
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
    help: "Continue after this event: the end of a workflow task",
  },
  type: {
    type: "text",
    short: "t",
    value: "point",
    choices: ["FirstWorkflowTask", "LastWorkflowTask", "LastContinuedAsNew"],
    help:
      "Continue after the first workflow task, the last one, or the last one of the run that continued as this one",
  },
  buildId: {
    type: "text",
    value: "id",
    help: "Continue after the first workflow task that workers of this build completed",
  },
  reason: { type: "text", value: "text", required: true, help: "Why; histories show it" },
  reapplyExclude: {
    type: "text",
    value: "kind",
    many: true,
    choices: ["All", "Signal", "Update", "Nexus", "CancelRequest"],
    help:
      "What came after the point and is not given to the new run again. Default: everything comes again",
  },
} as const satisfies Options;
export type ResetCall = Call<typeof reset>;

const { startDelay: _delay, ...startable } = START_OPTIONS;
export const updateWithStartOptions = {
  ...startable,
  workflowId: WORKFLOW_ID,
  idConflictPolicy: {
    ...START_OPTIONS.idConflictPolicy,
    help:
      "What happens when a workflow with this id is running. Default: UseExisting, it gets the update",
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
    help: "Two updates with one id are one. Default: a random one",
  },
  waitForStage: {
    type: "text",
    value: "stage",
    aliases: ["updateWaitForStage"],
    choices: ["accepted", "completed"],
    default: "completed",
    help: "What to wait for",
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
    help: "Two updates with one id are one. Default: a random one",
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
    help: "What to wait for",
  },
} as const satisfies Options;
export type UpdateStartCall = Call<typeof updateStart>;

export const updateResult = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  updateId: { type: "text", value: "id", required: true, help: "The update's id" },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type UpdateResultCall = Call<typeof updateResult>;

export const procedureList = { ...one, timeFormat: TIME_FORMAT } as const satisfies Options;
export type ProcedureListCall = Call<typeof procedureList>;

const { codec: _codec, identity: _identity, timeout: _timeout, ...WHERE } = SERVICE_OPTIONS;
export const fireTimerOptions = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  name: { ...NAME, help: "Its name, or its id; of several that are open the oldest" },
  ...WHERE,
} as const satisfies Options;
export type FireTimerCall = Call<typeof fireTimerOptions>;

const PROCEDURE = {
  workflowId: WORKFLOW_ID,
  runId: RUN_ID,
  name: {
    type: "text",
    value: "name",
    help: "Its name; of several that are open the oldest. This or --procedure-id is required",
  },
  procedureId: { type: "text", value: "id", help: "Its id, as workflow procedure list shows it" },
} as const satisfies Options;

export const procedureComplete = {
  ...PROCEDURE,
  ...INPUT_OPTIONS,
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type ProcedureCompleteCall = Call<typeof procedureComplete>;

export const procedureFail = {
  ...PROCEDURE,
  reason: { type: "text", value: "text", required: true, help: "Why; the workflow's code gets it" },
  type: { type: "text", value: "name", help: "Type of the failure. Default: ProcedureFailed" },
  ...SERVICE_OPTIONS,
} as const satisfies Options;
export type ProcedureFailCall = Call<typeof procedureFail>;

const REJECT_CONDITION = {
  type: "text",
  value: "condition",
  choices: ["not_open", "not_completed_cleanly"],
  help: "Do not ask a workflow that is closed, or that did not complete",
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
  enhanced: { type: "flag", help: "As data: files, lines and columns, as JSON" },
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
  limit: { type: "number", value: "n", help: "Show at most so many" },
  pageSize: {
    type: "number",
    value: "n",
    help: "Fetch so many at a time. Default: what the service gives",
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
  detailed: { type: "flag", help: "All fields of every event" },
  decode: {
    type: "flag",
    help:
      "Decode payloads in JSON too, with --codec. Default: an exported history keeps its secrets",
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
    help: "Follow the chain to the run that this run continued as",
  },
} as const satisfies Options;
export type ResultCall = Call<typeof result>;

export const failedExits = [
  "0 the workflow completed",
  "1 it failed, was canceled or terminated, timed out, or its result could not be read",
  "2 wrong usage",
];
