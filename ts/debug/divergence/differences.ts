// Describes the fields in which a command and its event differ. The replay compares some of them;
// others may change while runs are open. Each difference states which kind it is.
//
// Servers set fields that a command omits (timeouts, the retry policy) and shorten timeouts that
// exceed those of the run. A field is reported only if neither explains the difference.
import { fromBinary } from "@bufbuild/protobuf";
import type { RetryPolicy as RecordedPolicy } from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import {
  type Failure,
  FailureSchema,
} from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import type { HistoryEvent } from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  CommandKind,
  CompleteWorkflow,
  ContinueAsNew,
  FailWorkflow,
  ModifyWorkflowProperties,
  type RetryPolicy,
  ScheduleActivity,
  ScheduleNexusOperation,
  SignalExternalWorkflow,
  StartChildWorkflow,
  StartTimer,
  Transact,
  UpdateResponse,
  UpsertSearchAttributes,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import { toMilliseconds } from "../run/event_time.ts";
import { formatExactDuration } from "../values.ts";
import type { CodeStep } from "./code_steps.ts";
import type { HistoryStep } from "./history_steps.ts";
import type { StepKind, ValueDifference } from "./types.ts";
import { commandOfStep, formatValuePath, type IsIgnored, type ValuePath } from "./value_rules.ts";
import {
  type Apart,
  type CompareHow,
  compareLists,
  compareMaps,
  compareTexts,
  isRedacted,
} from "./values_apart.ts";

const NAMES: { readonly [kind in StepKind]?: string } = {
  activity: "activity type",
  localActivity: "activity type",
  child: "workflow type",
  nexus: "operation",
  signal: "signal",
  patch: "patch",
  transact: "reducer",
  update: "update",
  cancel: "what is canceled",
  end: "how it ends",
};
const IDS: { readonly [kind in StepKind]?: string } = {
  activity: "activity id",
  child: "workflow id",
  sideEffect: "number",
};

/** Paths of fields that are not payloads, as rules for values contain them. */
const PATHS: { readonly [field: string]: ValuePath } = {
  "signal": ["signalName"],
  "to workflow": ["workflowId"],
  "workflow type": ["workflowType"],
  "task queue": ["options", "taskQueue"],
  "cron schedule": ["options", "cronSchedule"],
  "parent close policy": ["options", "parentClosePolicy"],
  "workflow id reuse policy": ["options", "workflowIdReusePolicy"],
  "schedule-to-close timeout": ["options", "scheduleToCloseTimeout"],
  "schedule-to-start timeout": ["options", "scheduleToStartTimeout"],
  "start-to-close timeout": ["options", "startToCloseTimeout"],
  "heartbeat timeout": ["options", "heartbeatTimeout"],
  "workflow execution timeout": ["options", "workflowExecutionTimeout"],
  "workflow run timeout": ["options", "workflowRunTimeout"],
  "workflow task timeout": ["options", "workflowTaskTimeout"],
  "retry policy": ["options", "retry"],
  "initial retry interval": ["options", "retry", "initialInterval"],
  "retry backoff coefficient": ["options", "retry", "backoffCoefficient"],
  "maximum retry interval": ["options", "retry", "maximumInterval"],
  "maximum attempts": ["options", "retry", "maximumAttempts"],
  "errors without a retry": ["options", "retry", "nonRetryableErrorTypes"],
};

/** Kinds whose names the replay does not compare. */
const UNCOMPARED: ReadonlySet<StepKind> = new Set(["signal", "nexus"]);

/** Values that a command inherits from its run. */
export interface OfRun {
  readonly type: string;
  readonly taskQueue: string;
  /** 0: no timeout. */
  readonly runTimeoutMs: number;
  readonly converter: PayloadConverter | undefined;
  /** The history's values were redacted, so they differ from those of the code. */
  readonly isRedacted: boolean;
  readonly compared?: ComparedValues;
}

/** How values of a whole replay are compared. */
export interface ComparedValues {
  readonly isIgnored: IsIgnored;
  /** See `CompareHow.onUnread`. */
  onUnread(eventId: number, path: ValuePath, encoding: string): void;
  readonly unknownTexts: ReadonlySet<string>;
}

/** Histories do not contain their namespace, so code that reads it in a debug session gets "". */
const NO_NAMESPACE: ReadonlySet<string> = new Set([""]);

/** Reads the inherited values from the first event of a history. */
export function readInheritedValues(
  first: HistoryEvent | undefined,
  converter?: PayloadConverter,
): OfRun {
  const at = first?.attributes;
  const started = at?.case === "workflowExecutionStartedEventAttributes" ? at.value : undefined;
  return {
    type: started?.workflowType?.name ?? "",
    taskQueue: started?.taskQueue?.name ?? "",
    runTimeoutMs: toMilliseconds(started?.workflowRunTimeout) ?? 0,
    converter,
    isRedacted: isRedacted(started?.identity ?? ""),
  };
}

/** Returns the fields that differ. An empty text means that the field is not set. */
export function compareFields(history: HistoryStep, code: CodeStep, run: OfRun): ValueDifference[] {
  const differences: ValueDifference[] = [];
  const how = howToCompare(history, run);
  const add = (field: string | undefined, ofHistory: string, ofCode: string, counts: boolean) => {
    if (field === undefined || ofHistory === ofCode) return;
    const path = PATHS[field] ?? [field];
    if (how.isIgnored?.(path) === true) return;
    differences.push({
      field,
      history: ofHistory,
      code: ofCode,
      counts,
      path: formatValuePath(path),
    });
  };
  if (history.kind !== code.kind) {
    add("step", history.text, code.text, true);
    return differences;
  }
  const { kind } = history;
  add(NAMES[kind], history.name, code.name, !UNCOMPARED.has(kind));
  add(IDS[kind], history.plan.id, code.plan.id, true);
  add(
    kind === "nexus" ? "endpoint" : "to workflow",
    history.plan.target ?? "",
    code.plan.target ?? "",
    false,
  );
  const [then, now] = [ofEvent(history.event), ofCommand(code)];
  if (then === undefined || now === undefined) return differences;
  for (const [field, value] of Object.entries(now.texts ?? {})) {
    const recorded = then.texts?.[field] ?? "";
    const own = value !== ""
      ? value
      : field === "task queue"
      ? run.taskQueue
      : field === "workflow type"
      ? run.type
      : "";
    // Continue-as-new inherits its task queue from the run, which an earlier command may have
    // changed.
    if (kind === "end" && field === "task queue" && value === "") continue;
    add(field, recorded || "none", own || "none", false);
  }
  const filled = asServersDo(kind, now.times ?? {}, then.times?.[CLOSE] ?? 0, run.runTimeoutMs);
  for (const [field, ms] of Object.entries(now.times ?? {})) {
    const recorded = then.times?.[field] ?? 0;
    if (Math.abs(recorded - ms) < 1 || recorded === filled[field] || filled[field] === "any") {
      continue;
    }
    add(field, timeText(recorded), timeText(ms), false);
  }
  retryDifferences(kind, then.retry, now.retry, add);
  if (run.isRedacted) return differences;
  const gives = kind === "update" || history.name === "completed";
  const apart = [
    ...compareLists(gives ? "result" : "input", then.list ?? [], now.list ?? [], how),
    ...[["memo", "memo"], ["search attribute", "searchAttributes"]].flatMap(([name, root]) => {
      const given = now.maps?.[name!];
      return given === undefined
        ? []
        : compareMaps(name!, root!, then.maps?.[name!] ?? {}, given, how);
    }),
    ...failuresApart(then.failure, now.failure, how),
  ];
  for (const { path, ...values } of apart) {
    differences.push({ ...values, counts: false, path: formatValuePath(path) });
  }
  return differences;
}

function failuresApart(
  then: Failure | undefined,
  now: Failure | undefined,
  how: CompareHow,
): Apart[] {
  if (then === undefined || now === undefined) return [];
  const [before, after] = [then, now].map(({ failureInfo: { case: kind, value } }) =>
    kind === "applicationFailureInfo"
      ? { type: value.type, details: value.details?.payloads ?? [] }
      : { type: kind ?? "", details: [] }
  );
  return [
    ...compareTexts("failure type", ["failure", "type"], before!.type, after!.type, how),
    ...compareTexts("failure message", ["failure", "message"], then.message, now.message, how),
    ...compareLists("details", before!.details, after!.details, how),
  ];
}

function howToCompare(
  { kind, name, eventId }: HistoryStep,
  { converter, compared, type: workflowType }: OfRun,
): CompareHow {
  if (compared === undefined) return { converter, unknownTexts: NO_NAMESPACE };
  const at = { workflowType, command: commandOfStep(kind, name), name };
  return {
    converter,
    isIgnored: (path) => compared.isIgnored(at, path),
    onUnread: (path, encoding) => compared.onUnread(eventId, path, encoding),
    unknownTexts: compared.unknownTexts,
  };
}

const timeText = (ms: number): string => ms === 0 ? "none" : formatExactDuration(ms);

/**
 * The compared values of a command or an event. Times are in milliseconds; 0 and "" mean not set.
 */
interface StepValues {
  readonly texts?: { readonly [field: string]: string };
  readonly times?: { readonly [field: string]: number };
  readonly retry?: RetryValues | undefined;
  readonly list?: readonly Payload[];
  readonly failure?: Failure | undefined;
  readonly maps?: { readonly [name: string]: { readonly [name: string]: Payload } | undefined };
}

interface RetryValues {
  readonly initialMs: number;
  readonly coefficient: number;
  readonly mostMs: number;
  readonly attempts: number;
  readonly never: readonly string[];
}

const CLOSE = "schedule-to-close timeout";
const WAIT = "schedule-to-start timeout";
const RUN = "start-to-close timeout";
const BEAT = "heartbeat timeout";
const ALL_RUNS = "workflow execution timeout";
const ONE_RUN = "workflow run timeout";
const TASK = "workflow task timeout";
/** The limit of servers for workflow task timeouts. */
const LONGEST_TASK_MS = 120_000;

/**
 * Returns the times that a server records: it sets omitted ones and shortens others. "any": the
 * server has its own default.
 */
function asServersDo(
  kind: StepKind,
  times: { readonly [field: string]: number },
  recordedCloseMs: number,
  runTimeoutMs: number,
): { readonly [field: string]: number | "any" } {
  const given = (field: string) => times[field] ?? 0;
  const cut = (ms: number, ...others: readonly number[]) =>
    Math.min(ms, ...others.filter((other) => other > 0));
  if (kind === "activity") {
    const close = given(CLOSE) || runTimeoutMs;
    // Timeouts that the code omits follow the recorded schedule-to-close timeout.
    const run = given(RUN) === 0 ? recordedCloseMs : cut(given(RUN), close, runTimeoutMs);
    return {
      [CLOSE]: cut(close, runTimeoutMs),
      [WAIT]: given(WAIT) === 0
        ? recordedCloseMs || runTimeoutMs
        : cut(given(WAIT), close, runTimeoutMs),
      [RUN]: run,
      [BEAT]: cut(given(BEAT), run),
    };
  }
  if (kind === "timer") return {};
  const filled = (field: string, ...cuts: readonly number[]) =>
    given(field) === 0 ? "any" : cut(given(field), ...cuts);
  return {
    [CLOSE]: filled(CLOSE, runTimeoutMs),
    [ALL_RUNS]: filled(ALL_RUNS),
    [ONE_RUN]: filled(ONE_RUN, given(ALL_RUNS)),
    [TASK]: filled(TASK, given(ONE_RUN), given(ALL_RUNS), LONGEST_TASK_MS),
  };
}

type Add = (field: string, history: string, code: string, counts: boolean) => void;

/**
 * Compares retry policies. Servers set omitted fields, and for activities the whole policy, by
 * defaults that each cluster can configure.
 */
function retryDifferences(
  kind: StepKind,
  then: RetryValues | undefined,
  now: RetryValues | undefined,
  add: Add,
): void {
  if (now === undefined && then === undefined) return;
  if (now === undefined || then === undefined) {
    if (kind === "child") {
      add(
        "retry policy",
        then === undefined ? "none" : "one",
        now === undefined ? "none" : "one",
        false,
      );
    } else if (then !== undefined && then.never.length > 0) {
      add("errors without a retry", then.never.join(", "), "none", false);
    }
    return;
  }
  const number = (
    field: string,
    before: number,
    after: number,
    text: (value: number) => string,
  ) => {
    if (after > 0 && Math.abs(before - after) >= 0.001) {
      add(field, text(before), text(after), false);
    }
  };
  number("initial retry interval", then.initialMs, now.initialMs, timeText);
  number("retry backoff coefficient", then.coefficient, now.coefficient, String);
  number("maximum retry interval", then.mostMs, now.mostMs, timeText);
  number(
    "maximum attempts",
    then.attempts,
    now.attempts,
    (attempts) => attempts === 0 ? "no limit" : String(attempts),
  );
  add(
    "errors without a retry",
    then.never.join(", ") || "none",
    now.never.join(", ") || "none",
    false,
  );
}

const ofRecorded = (policy: RecordedPolicy | undefined): RetryValues | undefined =>
  policy && {
    initialMs: toMilliseconds(policy.initialInterval) ?? 0,
    coefficient: policy.backoffCoefficient,
    mostMs: toMilliseconds(policy.maximumInterval) ?? 0,
    attempts: policy.maximumAttempts,
    never: policy.nonRetryableErrorTypes,
  };

const ofGiven = (policy: RetryPolicy | undefined): RetryValues | undefined =>
  policy && {
    initialMs: policy.initialIntervalMs,
    coefficient: policy.backoffCoefficient,
    mostMs: policy.maximumIntervalMs,
    attempts: policy.maximumAttempts,
    never: policy.nonRetryableErrorTypes,
  };

/** By enum number. Number 0 (unspecified) means the same as number 1. */
const CLOSE_POLICIES = ["terminate", "terminate", "abandon", "request cancel"];
const ID_POLICIES = [
  ...["allow duplicate", "allow duplicate", "allow duplicate if failed", "reject duplicate"],
  "terminate if running",
];

const one = (payload: Payload | undefined): readonly Payload[] =>
  payload === undefined ? [] : [payload];
/** Returns undefined for bytes that do not decode; the core rejects them. */
function readFailure(bytes: Uint8Array): Failure | undefined {
  try {
    return fromBinary(FailureSchema, bytes);
  } catch {
    return undefined;
  }
}
const orUnset = <T>(map: { readonly [name: string]: T }) =>
  Object.keys(map).length === 0 ? undefined : map;

/** Returns undefined for events without compared values. */
function ofEvent({ attributes: at }: HistoryEvent): StepValues | undefined {
  switch (at.case) {
    case "timerStartedEventAttributes":
      return { times: { duration: toMilliseconds(at.value.startToFireTimeout) ?? 0 } };
    case "activityTaskScheduledEventAttributes": {
      const {
        taskQueue,
        input,
        retryPolicy,
        heartbeatTimeout,
        scheduleToCloseTimeout,
        scheduleToStartTimeout,
      } = at.value;
      return {
        texts: { "task queue": taskQueue?.name ?? "" },
        times: {
          [CLOSE]: toMilliseconds(scheduleToCloseTimeout) ?? 0,
          [WAIT]: toMilliseconds(scheduleToStartTimeout) ?? 0,
          [RUN]: toMilliseconds(at.value.startToCloseTimeout) ?? 0,
          [BEAT]: toMilliseconds(heartbeatTimeout) ?? 0,
        },
        retry: ofRecorded(retryPolicy),
        list: input?.payloads ?? [],
      };
    }
    case "startChildWorkflowExecutionInitiatedEventAttributes": {
      const {
        taskQueue,
        input,
        retryPolicy,
        memo,
        searchAttributes,
        cronSchedule,
        parentClosePolicy,
      } = at.value;
      return {
        texts: {
          "task queue": taskQueue?.name ?? "",
          "cron schedule": cronSchedule,
          "parent close policy": CLOSE_POLICIES[parentClosePolicy] ?? "",
          "workflow id reuse policy": ID_POLICIES[at.value.workflowIdReusePolicy] ?? "",
        },
        times: {
          [ALL_RUNS]: toMilliseconds(at.value.workflowExecutionTimeout) ?? 0,
          [ONE_RUN]: toMilliseconds(at.value.workflowRunTimeout) ?? 0,
          [TASK]: toMilliseconds(at.value.workflowTaskTimeout) ?? 0,
        },
        retry: ofRecorded(retryPolicy),
        list: input?.payloads ?? [],
        maps: { memo: memo?.fields, "search attribute": searchAttributes?.indexedFields },
      };
    }
    case "nexusOperationScheduledEventAttributes":
      return {
        times: { [CLOSE]: toMilliseconds(at.value.scheduleToCloseTimeout) ?? 0 },
        list: one(at.value.input),
      };
    case "signalExternalWorkflowExecutionInitiatedEventAttributes":
      return { list: at.value.input?.payloads ?? [] };
    case "upsertWorkflowSearchAttributesEventAttributes":
      return { maps: { "search attribute": at.value.searchAttributes?.indexedFields } };
    case "workflowPropertiesModifiedEventAttributes":
      return { maps: { memo: at.value.upsertedMemo?.fields } };
    case "markerRecordedEventAttributes":
      return { list: at.value.details["arguments"]?.payloads ?? [] };
    case "workflowExecutionUpdateCompletedEventAttributes": {
      const outcome = at.value.outcome?.value;
      if (outcome?.case === "failure") return { failure: outcome.value };
      return outcome?.case === "success" ? { list: outcome.value.payloads } : undefined;
    }
    case "workflowExecutionFailedEventAttributes":
      return { failure: at.value.failure };
    case "workflowExecutionCompletedEventAttributes":
      return { list: at.value.result?.payloads ?? [] };
    case "workflowExecutionContinuedAsNewEventAttributes": {
      const { workflowType, taskQueue, input, memo, searchAttributes } = at.value;
      return {
        texts: { "workflow type": workflowType?.name ?? "", "task queue": taskQueue?.name ?? "" },
        times: {
          [ONE_RUN]: toMilliseconds(at.value.workflowRunTimeout) ?? 0,
          [TASK]: toMilliseconds(at.value.workflowTaskTimeout) ?? 0,
        },
        list: input?.payloads ?? [],
        maps: { memo: memo?.fields, "search attribute": searchAttributes?.indexedFields },
      };
    }
    default:
      return undefined;
  }
}

function ofCommand({ command: { kind, attributes, cancel } }: CodeStep): StepValues | undefined {
  if (cancel) return undefined;
  switch (kind) {
    case CommandKind.COMMAND_KIND_START_TIMER:
      return { times: { duration: StartTimer.decode(attributes).durationMs } };
    case CommandKind.COMMAND_KIND_SCHEDULE_ACTIVITY: {
      const given = ScheduleActivity.decode(attributes);
      return {
        texts: { "task queue": given.taskQueue },
        times: {
          [CLOSE]: given.scheduleToCloseTimeoutMs,
          [WAIT]: given.scheduleToStartTimeoutMs,
          [RUN]: given.startToCloseTimeoutMs,
          [BEAT]: given.heartbeatTimeoutMs,
        },
        retry: ofGiven(given.retryPolicy),
        list: given.arguments,
      };
    }
    case CommandKind.COMMAND_KIND_START_CHILD_WORKFLOW: {
      const given = StartChildWorkflow.decode(attributes);
      return {
        texts: {
          "task queue": given.taskQueue,
          "cron schedule": given.cronSchedule,
          "parent close policy": CLOSE_POLICIES[given.parentClosePolicy] ?? "",
          "workflow id reuse policy": ID_POLICIES[given.workflowIdReusePolicy] ?? "",
        },
        times: {
          [ALL_RUNS]: given.workflowExecutionTimeoutMs,
          [ONE_RUN]: given.workflowRunTimeoutMs,
          [TASK]: given.workflowTaskTimeoutMs,
        },
        retry: ofGiven(given.retryPolicy),
        list: given.arguments,
        maps: { memo: given.memo, "search attribute": given.searchAttributes },
      };
    }
    case CommandKind.COMMAND_KIND_SCHEDULE_NEXUS_OPERATION: {
      const given = ScheduleNexusOperation.decode(attributes);
      return { times: { [CLOSE]: given.scheduleToCloseTimeoutMs }, list: one(given.input) };
    }
    case CommandKind.COMMAND_KIND_SIGNAL_EXTERNAL_WORKFLOW:
      return { list: SignalExternalWorkflow.decode(attributes).arguments };
    case CommandKind.COMMAND_KIND_UPSERT_SEARCH_ATTRIBUTES:
      return {
        maps: { "search attribute": UpsertSearchAttributes.decode(attributes).searchAttributes },
      };
    case CommandKind.COMMAND_KIND_MODIFY_WORKFLOW_PROPERTIES:
      return { maps: { memo: ModifyWorkflowProperties.decode(attributes).memo } };
    case CommandKind.COMMAND_KIND_TRANSACT:
      return { list: Transact.decode(attributes).arguments };
    case CommandKind.COMMAND_KIND_UPDATE_RESPONSE: {
      const { response } = UpdateResponse.decode(attributes);
      if (response?.$case === "rejected") return { failure: readFailure(response.value) };
      return response?.$case === "completed" ? { list: one(response.value) } : undefined;
    }
    case CommandKind.COMMAND_KIND_FAIL_WORKFLOW:
      return { failure: readFailure(FailWorkflow.decode(attributes).failure) };
    case CommandKind.COMMAND_KIND_COMPLETE_WORKFLOW:
      return { list: one(CompleteWorkflow.decode(attributes).result) };
    case CommandKind.COMMAND_KIND_CONTINUE_AS_NEW: {
      const given = ContinueAsNew.decode(attributes);
      return {
        texts: { "workflow type": given.workflowType, "task queue": given.taskQueue },
        times: { [ONE_RUN]: given.workflowRunTimeoutMs, [TASK]: given.workflowTaskTimeoutMs },
        list: given.arguments,
        // The next run inherits values that are not set.
        maps: { memo: orUnset(given.memo), "search attribute": orUnset(given.searchAttributes) },
      };
    }
    default:
      return undefined;
  }
}
