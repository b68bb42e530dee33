// workflowInfo(): what a run knows about itself. The object is replaced, never changed, when an activation brings new values.
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Duration, Timestamp } from "@bufbuild/protobuf/wkt";
import type { Activation, InitializeWorkflow } from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import type { RunContext } from "../../executor/program/program.ts";
import { WorkflowExecutionStartedEventAttributesSchema } from "../../api/generated/temporal/api/history/v1/message_pb.ts";
import { FailureSchema } from "../../api/generated/temporal/api/failure/v1/message_pb.ts";
import { decodeCompatFailure } from "../common/failure_converter.ts";
import type { RetryPolicy } from "../common/options.ts";
import { convertDeploymentVersion, type WorkerDeploymentVersion } from "../common/deployments.ts";
import { type SuggestContinueAsNewReason, suggestContinueAsNewReasonsFromProto } from "../common/policies.ts";
import { decodePriority, type Priority } from "../common/priority.ts";
import { readTyped, readUntyped, type SearchAttributes, type TypedSearchAttributes } from "../common/search_attributes.ts";
import { uuid4From } from "./alea.ts";
import { durationMs, timestampMs } from "../../api/well_known.ts";

/** The workflow that started this one. */
export interface ParentWorkflowInfo {
  /** Id of the workflow. */
  workflowId: string;
  /** Id of the run. */
  runId: string;
  /** Its namespace. */
  namespace: string;
}

/** The first of the workflows that started each other. */
export interface RootWorkflowInfo {
  /** Id of the workflow. */
  workflowId: string;
  /** Id of the run. */
  runId: string;
}

/** Things that differ from replay to replay. Never let the outcome of a workflow depend on them. */
export interface UnsafeWorkflowInfo {
  /** The system's time, milliseconds. */
  readonly now: () => number;
  /** The task repeats what is in history. */
  readonly isReplaying: boolean;
  /** False also for queries and validators, which are live although nothing new happens. */
  readonly isReplayingHistoryEvents: boolean;
  /** Random numbers that are not seeded. */
  readonly random: UnsafeRandomSource;
}

/** Random numbers that differ from replay to replay. */
export interface UnsafeRandomSource {
  /** A number in [0, 1). */
  random(): number;
  /** A version 4 UUID. */
  uuid4(): string;
  /** Fills bytes. Returns them. */
  fillRandom(bytes: Uint8Array): Uint8Array;
}

/** What a run knows about itself. */
export interface WorkflowInfo {
  /** Id of the workflow. */
  readonly workflowId: string;
  /** Id of the run. */
  readonly runId: string;
  /** Type of the workflow. */
  readonly workflowType: string;
  /** Search attributes in the older form. */
  readonly searchAttributes: SearchAttributes;
  /** Search attributes with their types. */
  readonly typedSearchAttributes: TypedSearchAttributes;
  /** Values that lists and descriptions show. */
  readonly memo: Record<string, unknown>;
  /** The workflow that started it. */
  readonly parent?: ParentWorkflowInfo;
  /** Absent for a workflow that is its own root. */
  readonly root?: RootWorkflowInfo;
  /** Result of the run before, of a cron workflow. */
  readonly lastResult?: unknown;
  /** What the run before failed with. */
  readonly lastFailure?: Error;
  /** Id of the last event that the current task knows. */
  readonly historyLength: number;
  /** Bytes. */
  readonly historySize: number;
  /** The history has become so long that a new run should follow. */
  readonly continueAsNewSuggested: boolean;
  /** The current version of the run's deployment is another one than the run is on. */
  readonly targetWorkerDeploymentVersionChanged: boolean;
  /** Why a new run should follow. */
  readonly suggestedContinueAsNewReasons?: SuggestContinueAsNewReason[];
  /** Its task queue. */
  readonly taskQueue: string;
  /** Its namespace. */
  readonly namespace: string;
  /** Id of the first run of the chain. */
  readonly firstExecutionRunId: string;
  /** Id of the run as it was started; another one than its own after a reset. */
  readonly originalExecutionRunId: string;
  /** Id of the run that this one continues. */
  readonly continuedFromExecutionRunId?: string;
  /** When the workflow was started. */
  readonly startTime: Date;
  /** When this run was started. */
  readonly runStartTime: Date;
  /** The longest time of all runs together, milliseconds. */
  readonly executionTimeoutMs?: number;
  /** When that time is up. */
  readonly executionExpirationTime?: Date;
  /** The longest time of this run, milliseconds. */
  readonly runTimeoutMs?: number;
  /** The longest time of one task, milliseconds. */
  readonly taskTimeoutMs: number;
  /** When and how often the workflow is tried again. */
  readonly retryPolicy?: RetryPolicy;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** The cron expression that starts it. */
  readonly cronSchedule?: string;
  /** Time from one run's start to the next, milliseconds. */
  readonly cronScheduleToScheduleInterval?: number;
  /** Build of the worker that has the task, or had it. */
  readonly currentBuildId?: string;
  /** Version of the worker that has the task, or had it. */
  readonly currentDeploymentVersion?: WorkerDeploymentVersion;
  /** Order among tasks. */
  readonly priority: Priority;
  /** Things that differ from replay to replay. */
  readonly unsafe: UnsafeWorkflowInfo;
}

/** The info of a run at its first activation. */
export function initialInfo(init: InitializeWorkflow, activation: Activation, host: RunContext): WorkflowInfo {
  const started = fromBinary(WorkflowExecutionStartedEventAttributesSchema, init.startedAttributes);
  const { converter } = host;
  const memo = started.memo?.fields;
  const parent = started.parentWorkflowExecution;
  const root = started.rootWorkflowExecution;
  const failure = started.continuedFailure;
  const lastResult = started.lastCompletionResult?.payloads[0];
  const retry = started.retryPolicy;
  const present = <K extends keyof WorkflowInfo>(key: K, value: WorkflowInfo[K] | undefined) =>
    (value === undefined || value === "" || value === 0 ? {} : { [key]: value }) as Pick<WorkflowInfo, K>;
  return {
    workflowId: init.workflowId,
    runId: init.runId,
    workflowType: init.workflowType,
    searchAttributes: readUntyped(started.searchAttributes?.indexedFields ?? {}),
    typedSearchAttributes: readTyped(started.searchAttributes?.indexedFields ?? {}),
    memo: decodeAll(memo ?? {}, converter),
    ...present(
      "parent",
      parent && { workflowId: parent.workflowId, runId: parent.runId, namespace: started.parentWorkflowNamespace },
    ),
    ...present("root", root && { workflowId: root.workflowId, runId: root.runId }),
    ...present("lastResult", lastResult && converter.fromPayload(lastResult)),
    ...present("lastFailure", failure && decodeCompatFailure(toBinary(FailureSchema, failure), converter)),
    taskQueue: init.taskQueue,
    namespace: host.namespace,
    firstExecutionRunId: init.firstExecutionRunId,
    originalExecutionRunId: started.originalExecutionRunId,
    ...present("continuedFromExecutionRunId", init.continuedFromRunId),
    startTime: new Date(init.startTimeMs),
    runStartTime: new Date(activation.timeMs),
    ...present("executionTimeoutMs", init.workflowExecutionTimeoutMs),
    ...present("executionExpirationTime", dateOf(started.workflowExecutionExpirationTime)),
    ...present("runTimeoutMs", init.workflowRunTimeoutMs),
    taskTimeoutMs: init.workflowTaskTimeoutMs,
    ...present(
      "retryPolicy",
      retry && {
        backoffCoefficient: retry.backoffCoefficient,
        maximumAttempts: retry.maximumAttempts,
        nonRetryableErrorTypes: [...retry.nonRetryableErrorTypes],
        ...(retry.initialInterval && { initialInterval: msOf(retry.initialInterval) }),
        ...(retry.maximumInterval && { maximumInterval: msOf(retry.maximumInterval) }),
      },
    ),
    attempt: init.attempt,
    ...present("cronSchedule", started.cronSchedule),
    ...present(
      "cronScheduleToScheduleInterval",
      started.firstWorkflowTaskBackoff && msOf(started.firstWorkflowTaskBackoff),
    ),
    priority: decodePriority(started.priority),
    ...ofTask(activation, host),
    unsafe: {
      now: realNow,
      isReplaying: activation.isReplaying,
      isReplayingHistoryEvents: activation.isReplaying,
      random: realRandom,
    },
  };
}

/** The info of the next activation. */
export function nextInfo(info: WorkflowInfo, activation: Activation, host: Pick<RunContext, "workerVersion">): WorkflowInfo {
  return {
    ...info,
    ...ofTask(activation, host),
    unsafe: { ...info.unsafe, isReplaying: activation.isReplaying, isReplayingHistoryEvents: activation.isReplaying },
  };
}

/** What each task says again. */
function ofTask(activation: Activation, { workerVersion }: Pick<RunContext, "workerVersion">) {
  const { suggestContinueAsNewReasons } = activation;
  // History has the version of the worker that completes a task; a task that is open is completed by this one.
  const { buildId, deploymentName } = activation.isReplaying ? activation : workerVersion ?? activation;
  return {
    historyLength: activation.historyLength,
    historySize: activation.historySizeBytes,
    continueAsNewSuggested: activation.continueAsNewSuggested,
    targetWorkerDeploymentVersionChanged: activation.targetWorkerDeploymentVersionChanged,
    suggestedContinueAsNewReasons: suggestContinueAsNewReasonsFromProto(
      suggestContinueAsNewReasons,
    ),
    currentBuildId: buildId,
    currentDeploymentVersion: convertDeploymentVersion({ buildId, deploymentName }),
  } as Pick<
    WorkflowInfo,
    | "historyLength"
    | "historySize"
    | "continueAsNewSuggested"
    | "targetWorkerDeploymentVersionChanged"
  >;
}

/** Captured when this module is loaded, before a realm replaces its globals. */
const realNow = Date.now.bind(Date);
const real = Math.random.bind(Math);
export const realRandom: UnsafeWorkflowInfo["random"] = {
  random: real,
  uuid4: () => uuid4From(real),
  fillRandom: (bytes) => bytes.map((_, i) => bytes[i] = Math.floor(real() * 0x100)) && bytes,
};
// So that an info that is logged as JSON does not show an empty object.
Object.defineProperty(realRandom, "toJSON", { value: () => undefined, enumerable: true });

function msOf(duration: Duration): number {
  return durationMs(duration);
}

function dateOf(timestamp: Timestamp | undefined): Date | undefined {
  return timestamp === undefined ? undefined : new Date(timestampMs(timestamp));
}

function decodeAll(fields: { [key: string]: Payload }, converter: PayloadConverter): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, payload]) => [key, converter.fromPayload(payload)]));
}
