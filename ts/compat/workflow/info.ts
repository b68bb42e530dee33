// workflowInfo(): information about a run. Each activation replaces the object.
import { fromBinary } from "@bufbuild/protobuf";
import type {
  Activation,
  InitializeWorkflow,
} from "../../core/generated/boundary/temporalex/boundary/v1/boundary.ts";
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import type { RunContext } from "../../executor/program/program.ts";
import { scanStarted } from "../../executor/program/started_attributes.ts";
import {
  PrioritySchema,
  RetryPolicySchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { decodeCompatFailure } from "../common/failure_converter.ts";
import type { RetryPolicy } from "../common/options.ts";
import { convertDeploymentVersion, type WorkerDeploymentVersion } from "../common/deployments.ts";
import {
  type SuggestContinueAsNewReason,
  suggestContinueAsNewReasonsFromProto,
} from "../common/policies.ts";
import { decodePriority, type Priority } from "../common/priority.ts";
import {
  readTyped,
  readUntyped,
  type SearchAttributes,
  type TypedSearchAttributes,
} from "../common/search_attributes.ts";
import { uuid4From } from "./alea.ts";
import { durationMs } from "../../messages/well_known.ts";

/** The parent workflow. */
export interface ParentWorkflowInfo {
  workflowId: string;
  runId: string;
  namespace: string;
}

/** The first workflow of a chain of parents and children. */
export interface RootWorkflowInfo {
  workflowId: string;
  runId: string;
}

/** Values that differ between replays; the result of a workflow must not depend on them. */
export interface UnsafeWorkflowInfo {
  /** System time, in milliseconds. */
  readonly now: () => number;
  /** True if the task replays history. */
  readonly isReplaying: boolean;
  /** Same, but false for queries and validators, which run live. */
  readonly isReplayingHistoryEvents: boolean;
  /** Random numbers without a seed. */
  readonly random: UnsafeRandomSource;
}

/** Random numbers that differ between replays. */
export interface UnsafeRandomSource {
  /** Returns a number in [0, 1). */
  random(): number;
  /** Returns a version 4 UUID. */
  uuid4(): string;
  /** Fills bytes and returns them. */
  fillRandom(bytes: Uint8Array): Uint8Array;
}

/** Information about a run. */
export interface WorkflowInfo {
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  /** Search attributes without types. */
  readonly searchAttributes: SearchAttributes;
  /** Search attributes with their types. */
  readonly typedSearchAttributes: TypedSearchAttributes;
  readonly memo: Record<string, unknown>;
  readonly parent?: ParentWorkflowInfo;
  /** Undefined if the workflow is the root itself. */
  readonly root?: RootWorkflowInfo;
  /** Result of the previous run of a cron workflow. */
  readonly lastResult?: unknown;
  /** Failure of the previous run. */
  readonly lastFailure?: Error;
  /** Number of events up to the current task. */
  readonly historyLength: number;
  /** Size of the history in bytes. */
  readonly historySize: number;
  /** True if the history is so long that the run should continue as new. */
  readonly continueAsNewSuggested: boolean;
  /** True if the current version of the run's deployment differs from the run's version. */
  readonly targetWorkerDeploymentVersionChanged: boolean;
  /** Reasons why the run should continue as new. */
  readonly suggestedContinueAsNewReasons?: SuggestContinueAsNewReason[];
  readonly taskQueue: string;
  readonly namespace: string;
  /** Id of the first run of the chain. */
  readonly firstExecutionRunId: string;
  /** Original id of the run; differs from `runId` after a reset. */
  readonly originalExecutionRunId: string;
  /** Id of the previous run of the chain. */
  readonly continuedFromExecutionRunId?: string;
  readonly startTime: Date;
  readonly runStartTime: Date;
  /** Execution timeout in milliseconds. */
  readonly executionTimeoutMs?: number;
  /** Time of the execution timeout. */
  readonly executionExpirationTime?: Date;
  /** Run timeout in milliseconds. */
  readonly runTimeoutMs?: number;
  /** Workflow task timeout in milliseconds. */
  readonly taskTimeoutMs: number;
  readonly retryPolicy?: RetryPolicy;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly cronSchedule?: string;
  /** Milliseconds between the starts of two runs of a cron workflow. */
  readonly cronScheduleToScheduleInterval?: number;
  /** Build id of the worker that processes or processed the task. */
  readonly currentBuildId?: string;
  /** Deployment version of the worker that processes or processed the task. */
  readonly currentDeploymentVersion?: WorkerDeploymentVersion;
  /** Priority of its tasks. */
  readonly priority: Priority;
  /** Values that differ between replays. */
  readonly unsafe: UnsafeWorkflowInfo;
}

/** Returns the info at the first activation. It has each key, as the official one: sinks copy it. */
export function initialInfo(
  init: InitializeWorkflow,
  activation: Activation,
  host: RunContext,
): WorkflowInfo {
  const started = scanStarted(init.startedAttributes);
  const { converter } = host;
  const { parent, root, expirationMs } = started;
  const lastResult = started.lastResult[0];
  return {
    workflowId: init.workflowId,
    runId: init.runId,
    workflowType: init.workflowType,
    searchAttributes: readUntyped(started.searchAttributes),
    typedSearchAttributes: readTyped(started.searchAttributes),
    memo: decodeAll(started.memo, converter),
    parent: parent && {
      workflowId: parent.workflowId,
      runId: parent.runId,
      namespace: started.parentNamespace,
    },
    root: root && { workflowId: root.workflowId, runId: root.runId },
    lastResult: lastResult && converter.fromPayload(lastResult),
    lastFailure: started.continuedFailure &&
      decodeCompatFailure(started.continuedFailure, converter),
    taskQueue: init.taskQueue,
    namespace: host.namespace,
    firstExecutionRunId: init.firstExecutionRunId,
    originalExecutionRunId: started.originalRunId,
    continuedFromExecutionRunId: init.continuedFromRunId || undefined,
    startTime: new Date(init.startTimeMs),
    runStartTime: new Date(activation.timeMs),
    executionTimeoutMs: init.workflowExecutionTimeoutMs || undefined,
    executionExpirationTime: expirationMs === undefined ? undefined : new Date(expirationMs),
    runTimeoutMs: init.workflowRunTimeoutMs || undefined,
    taskTimeoutMs: init.workflowTaskTimeoutMs,
    retryPolicy: started.retryPolicy && decodeRetryPolicy(started.retryPolicy),
    attempt: init.attempt,
    cronSchedule: started.cronSchedule || undefined,
    cronScheduleToScheduleInterval: started.firstTaskBackoffMs || undefined,
    priority: decodePriority(
      started.priority && fromBinary(PrioritySchema, started.priority),
    ),
    ...ofTask(activation, host),
    unsafe: {
      now: realNow,
      isReplaying: activation.isReplaying,
      isReplayingHistoryEvents: activation.isReplaying,
      random: realRandom,
    },
  };
}

/** Returns the info of the next activation. */
export function nextInfo(
  info: WorkflowInfo,
  activation: Activation,
  host: Pick<RunContext, "workerVersion">,
): WorkflowInfo {
  return {
    ...info,
    ...ofTask(activation, host),
    unsafe: {
      ...info.unsafe,
      isReplaying: activation.isReplaying,
      isReplayingHistoryEvents: activation.isReplaying,
    },
  };
}

/** Returns the values that each task updates. */
function ofTask(activation: Activation, { workerVersion }: Pick<RunContext, "workerVersion">) {
  const { suggestContinueAsNewReasons } = activation;
  // History has the version of a completed task's worker; an open task is completed by this worker.
  const { buildId, deploymentName } = activation.isReplaying
    ? activation
    : workerVersion ?? activation;
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
// Prevents an empty object when the info is logged as JSON.
Object.defineProperty(realRandom, "toJSON", { value: () => undefined, enumerable: true });

function decodeRetryPolicy(bytes: Uint8Array): RetryPolicy {
  const retry = fromBinary(RetryPolicySchema, bytes);
  return {
    backoffCoefficient: retry.backoffCoefficient,
    maximumAttempts: retry.maximumAttempts,
    nonRetryableErrorTypes: [...retry.nonRetryableErrorTypes],
    initialInterval: retry.initialInterval && durationMs(retry.initialInterval),
    maximumInterval: retry.maximumInterval && durationMs(retry.maximumInterval),
  };
}

function decodeAll(
  fields: { readonly [key: string]: Payload },
  converter: PayloadConverter,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, payload]) => [key, converter.fromPayload(payload)]),
  );
}
