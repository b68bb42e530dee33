// `Worker.options`: what a worker was made with, its defaults filled in and its times in milliseconds, in the shape that the official worker
// keeps. Plugins and tests read it.
import type { ClientInterceptors } from "../client/mod.ts";
import type { ActivityFunction, Duration, LoadedDataConverter } from "../common/mod.ts";
import { msOptionalToNumber, msToNumber } from "../common/time.ts";
import type { ActivityInterceptorsFactory, NexusInterceptorsFactory, WorkerInterceptors } from "./interceptors.ts";
import type { ServiceHandler } from "../nexus/types.ts";
import { servicesOf } from "./nexus_services.ts";
import { type Numbers, WATCHDOG } from "./native_options.ts";
import type { FixedSizeSlotSupplier } from "./tuner.ts";
import type { PollerBehavior, WorkerOptions } from "./worker_options.ts";

/** Interceptors of a worker, with the deprecated ones of activities among the others. */
export interface CompiledWorkerInterceptors {
  /** Of the client that activities have. */
  client: ClientInterceptors & Required<Pick<ClientInterceptors, "workflow" | "schedule">>;
  /** Of activities, the first one outermost. */
  activity: ActivityInterceptorsFactory[];
  /** Of Nexus operations. */
  nexus: NexusInterceptorsFactory[];
  /** Paths of modules with those of workflows. */
  workflowModules: string[];
}

/** How many slots there are of each kind. */
export interface CompiledTuner {
  /** For workflow tasks. */
  workflowTaskSlotSupplier: FixedSizeSlotSupplier;
  /** For activities. */
  activityTaskSlotSupplier: FixedSizeSlotSupplier;
  /** For local activities. */
  localActivityTaskSlotSupplier: FixedSizeSlotSupplier;
  /** For Nexus operations. */
  nexusTaskSlotSupplier: FixedSizeSlotSupplier;
  /** Slots do not follow the machine's load. */
  resourceBasedTunerConfig: null;
}

/** Options of `Worker.create` with their defaults. Times whose names end in `Ms` are in milliseconds. */
export interface CompiledWorkerOptions extends Omit<WorkerOptions, "interceptors" | "activities" | "nexusServices" | "tuner"> {
  /** Default: "default". */
  namespace: string;
  /** Default: `pid@host`. */
  identity: string;
  /** Default: false. */
  useVersioning: boolean;
  /** Default: 0. */
  shutdownGraceTime: Duration;
  /** The same in milliseconds. */
  shutdownGraceTimeMs: number;
  /** `shutdownForceTime` in milliseconds. */
  shutdownForceTimeMs?: number | undefined;
  /** Default: "10s". */
  stickyQueueScheduleToStartTimeout: Duration;
  /** The same in milliseconds. */
  stickyQueueScheduleToStartTimeoutMs: number;
  /** Default: "60s". */
  maxHeartbeatThrottleInterval: Duration;
  /** The same in milliseconds. */
  maxHeartbeatThrottleIntervalMs: number;
  /** Default: "30s". */
  defaultHeartbeatThrottleInterval: Duration;
  /** The same in milliseconds. */
  defaultHeartbeatThrottleIntervalMs: number;
  /** How long workflow code may keep its thread before the thread is replaced. */
  isolateExecutionTimeout: Duration;
  /** The same in milliseconds. */
  isolateExecutionTimeoutMs: number;
  /** Default: 0.2. */
  nonStickyToStickyPollRatio: number;
  /** False where there are no activities, too. */
  enableNonLocalActivities: boolean;
  /** Default: 1000. */
  maxCachedWorkflows: number;
  /** Default: 1. */
  workflowThreadPoolSize: number;
  /** Always false. */
  showStackTraceSources: boolean;
  /** Default: false. */
  debugMode: boolean;
  /** Default: true. Without effect. */
  reuseV8Context: boolean;
  /** Default: ten polls, or as many as there are slots. */
  workflowTaskPollerBehavior: Required<PollerBehavior>;
  /** Default: ten polls, or as many as there are slots. */
  activityTaskPollerBehavior: Required<PollerBehavior>;
  /** Default: ten polls, or as many as there are slots. */
  nexusTaskPollerBehavior: Required<PollerBehavior>;
  /** With those that are deprecated among the others. */
  interceptors: CompiledWorkerInterceptors;
  /** The converter that the option names. */
  loadedDataConverter: LoadedDataConverter;
  /** The functions among the activities, by name. */
  activities: Map<string, ActivityFunction>;
  /** The Nexus services by their names; undefined where there are none. */
  nexusServiceHandlers?: Map<string, ServiceHandler> | undefined;
  /** The slots. */
  tuner: CompiledTuner;
}

const fixed = (numSlots: number): FixedSizeSlotSupplier => ({ type: "fixed-size", numSlots });

/** The interceptors of all kinds. */
function compiledInterceptors(given: WorkerInterceptors = {}): CompiledWorkerInterceptors {
  const old: ActivityInterceptorsFactory[] = (given.activityInbound ?? []).map((factory) => (ctx) => ({ inbound: factory(ctx) }));
  return {
    client: { ...given.client, workflow: given.client?.workflow ?? [], schedule: given.client?.schedule ?? [] },
    activity: [...old, ...given.activity ?? []],
    nexus: given.nexus ?? [],
    workflowModules: given.workflowModules ?? [],
  };
}

/** What a worker was made of, beside its options. */
export interface CompiledParts {
  readonly namespace: string;
  readonly identity: string;
  /** The functions among the activities, by name. */
  readonly activities: readonly (readonly [name: string, fn: unknown])[];
  readonly dataConverter: LoadedDataConverter;
  /** What the worker is told of numbers and times. */
  readonly native: Numbers;
}

/** No limit, as the official worker writes it. */
const NO_LIMIT_MS = 4_294_967_295;

/** Options that have another form among the compiled ones: numbers of slots are in the tuner. */
const COMPILED: ReadonlySet<string> = new Set([
  ...["activities", "interceptors", "nexusServices", "tuner", "maxConcurrentWorkflowTaskExecutions"],
  ...["maxConcurrentActivityTaskExecutions", "maxConcurrentLocalActivityExecutions", "maxConcurrentNexusTaskExecutions"],
]);

/** The options of a worker that was made. */
export function compiledOptions(options: WorkerOptions, parts: CompiledParts): CompiledWorkerOptions {
  const { namespace, identity, dataConverter, native } = parts;
  const rest = Object.fromEntries(Object.entries(options).filter(([name]) => !COMPILED.has(name))) as {
    readonly taskQueue: string;
  };
  const { interceptors } = options;
  const tuner = compiledTuner(native);
  const activities = new Map(parts.activities as readonly (readonly [string, ActivityFunction])[]);
  const debugMode = options.debugMode === true;
  return {
    ...rest,
    namespace,
    identity,
    useVersioning: options.useVersioning === true,
    shutdownGraceTime: options.shutdownGraceTime ?? 0,
    shutdownGraceTimeMs: msToNumber(options.shutdownGraceTime ?? 0),
    shutdownForceTimeMs: msOptionalToNumber(options.shutdownForceTime),
    ...timeOf("stickyQueueScheduleToStartTimeout", options.stickyQueueScheduleToStartTimeout ?? "10s"),
    ...timeOf("maxHeartbeatThrottleInterval", options.maxHeartbeatThrottleInterval ?? "60s"),
    ...timeOf("defaultHeartbeatThrottleInterval", options.defaultHeartbeatThrottleInterval ?? "30s"),
    ...timeOf("isolateExecutionTimeout", debugMode ? `${NO_LIMIT_MS}ms` : WATCHDOG),
    nonStickyToStickyPollRatio: native.commonQueuePart,
    enableNonLocalActivities: options.enableNonLocalActivities !== false && activities.size > 0,
    maxCachedWorkflows: native.cachedWorkflows,
    workflowThreadPoolSize: native.workflowThreads ?? 1,
    showStackTraceSources: false,
    debugMode,
    reuseV8Context: options.reuseV8Context ?? true,
    workflowTaskPollerBehavior: native.workflowTaskPollerBehavior,
    activityTaskPollerBehavior: native.activityTaskPollerBehavior,
    nexusTaskPollerBehavior: native.nexusTaskPollerBehavior,
    interceptors: compiledInterceptors(interceptors),
    loadedDataConverter: dataConverter,
    activities,
    nexusServiceHandlers: servicesOf(options.nexusServices),
    tuner,
  };
}

/** A duration as it was given, and in milliseconds. */
function timeOf<N extends string>(name: N, value: Duration) {
  return { [name]: value, [`${name}Ms`]: msToNumber(value) } as { [K in N]: Duration } & { [K in `${N}Ms`]: number };
}

function compiledTuner(native: Numbers): CompiledTuner {
  return {
    workflowTaskSlotSupplier: fixed(native.maxConcurrentWorkflowTasks),
    activityTaskSlotSupplier: fixed(native.maxConcurrentActivities),
    localActivityTaskSlotSupplier: fixed(native.maxConcurrentLocalActivities),
    nexusTaskSlotSupplier: fixed(native.maxConcurrentNexusTasks),
    resourceBasedTunerConfig: null,
  };
}
