// `Worker.options`: options of a worker with defaults and times in milliseconds, in the official
// worker's form. Plugins and tests read it.
import type { ClientInterceptors } from "../client/mod.ts";
import type { ActivityFunction, Duration, LoadedDataConverter } from "../common/mod.ts";
import { msOptionalToNumber, msToNumber } from "../common/time.ts";
import type {
  ActivityInterceptorsFactory,
  NexusInterceptorsFactory,
  WorkerInterceptors,
} from "./interceptors.ts";
import type { ServiceHandler } from "../nexus/types.ts";
import { adaptServices } from "./nexus_services.ts";
import { type Numbers, WATCHDOG } from "./native_options.ts";
import type { FixedSizeSlotSupplier } from "./tuner.ts";
import type { PollerBehavior, WorkerOptions } from "./worker_options.ts";

/** Interceptors of a worker, including deprecated ones of activities. */
export interface CompiledWorkerInterceptors {
  /** Interceptors of the activities' client. */
  client: ClientInterceptors & Required<Pick<ClientInterceptors, "workflow" | "schedule">>;
  /** Interceptors of activities, the first one outermost. */
  activity: ActivityInterceptorsFactory[];
  /** Interceptors of Nexus operations. */
  nexus: NexusInterceptorsFactory[];
  /** Paths of modules with workflow interceptors. */
  workflowModules: string[];
}

/** Number of slots of each kind. */
export interface CompiledTuner {
  workflowTaskSlotSupplier: FixedSizeSlotSupplier;
  activityTaskSlotSupplier: FixedSizeSlotSupplier;
  localActivityTaskSlotSupplier: FixedSizeSlotSupplier;
  /** For Nexus operations. */
  nexusTaskSlotSupplier: FixedSizeSlotSupplier;
  /** null: slots do not depend on the machine's load. */
  resourceBasedTunerConfig: null;
}

/**
 * Options of `Worker.create` with their defaults. Names that end in `Ms` are times in milliseconds.
 */
export interface CompiledWorkerOptions
  extends Omit<WorkerOptions, "interceptors" | "activities" | "nexusServices" | "tuner"> {
  /** Default: "default". */
  namespace: string;
  /** Default: `pid@host`. */
  identity: string;
  /** Default: false. */
  useVersioning: boolean;
  /** Default: 0. */
  shutdownGraceTime: Duration;
  /** In milliseconds. */
  shutdownGraceTimeMs: number;
  /** `shutdownForceTime` in milliseconds. */
  shutdownForceTimeMs?: number | undefined;
  /** Default: "10s". */
  stickyQueueScheduleToStartTimeout: Duration;
  /** In milliseconds. */
  stickyQueueScheduleToStartTimeoutMs: number;
  /** Default: "60s". */
  maxHeartbeatThrottleInterval: Duration;
  /** In milliseconds. */
  maxHeartbeatThrottleIntervalMs: number;
  /** Default: "30s". */
  defaultHeartbeatThrottleInterval: Duration;
  /** In milliseconds. */
  defaultHeartbeatThrottleIntervalMs: number;
  /** Time that workflow code may block its thread before the thread is replaced. */
  isolateExecutionTimeout: Duration;
  /** In milliseconds. */
  isolateExecutionTimeoutMs: number;
  /** Default: 0.2. */
  nonStickyToStickyPollRatio: number;
  /** Also false without activities. */
  enableNonLocalActivities: boolean;
  /** Default: 1000. */
  maxCachedWorkflows: number;
  /** Default: 1. */
  workflowThreadPoolSize: number;
  /** Always false. */
  showStackTraceSources: boolean;
  /** Default: false. */
  debugMode: boolean;
  /** Default: true. No effect. */
  reuseV8Context: boolean;
  /** Default: ten polls, or the number of slots if lower. */
  workflowTaskPollerBehavior: Required<PollerBehavior>;
  /** Default: ten polls, or the number of slots if lower. */
  activityTaskPollerBehavior: Required<PollerBehavior>;
  /** Default: ten polls, or the number of slots if lower. */
  nexusTaskPollerBehavior: Required<PollerBehavior>;
  /** Including deprecated ones. */
  interceptors: CompiledWorkerInterceptors;
  loadedDataConverter: LoadedDataConverter;
  activities: Map<string, ActivityFunction>;
  /** Nexus services by name; undefined without any. */
  nexusServiceHandlers?: Map<string, ServiceHandler> | undefined;
  /** The slots. */
  tuner: CompiledTuner;
}

const fixed = (numSlots: number): FixedSizeSlotSupplier => ({ type: "fixed-size", numSlots });

/** Returns the interceptors of all kinds. */
function compiledInterceptors(given: WorkerInterceptors = {}): CompiledWorkerInterceptors {
  const old: ActivityInterceptorsFactory[] = (given.activityInbound ?? []).map(
    (factory) => (ctx) => ({ inbound: factory(ctx) }),
  );
  return {
    client: {
      ...given.client,
      workflow: given.client?.workflow ?? [],
      schedule: given.client?.schedule ?? [],
    },
    activity: [...old, ...given.activity ?? []],
    nexus: given.nexus ?? [],
    workflowModules: given.workflowModules ?? [],
  };
}

/** Parts of a worker in addition to its options. */
export interface CompiledParts {
  readonly namespace: string;
  readonly identity: string;
  /** Activity functions by name. */
  readonly activities: readonly (readonly [name: string, fn: unknown])[];
  readonly dataConverter: LoadedDataConverter;
  /** Numbers and times of the native worker. */
  readonly native: Numbers;
}

/** No limit, in the official worker's form. */
const NO_LIMIT_MS = 4_294_967_295;

/** Options with another compiled form: numbers of slots are in the tuner. */
const COMPILED: ReadonlySet<string> = new Set([
  ...[
    "activities",
    "interceptors",
    "nexusServices",
    "tuner",
    "maxConcurrentWorkflowTaskExecutions",
  ],
  ...[
    "maxConcurrentActivityTaskExecutions",
    "maxConcurrentLocalActivityExecutions",
    "maxConcurrentNexusTaskExecutions",
  ],
]);

/** Returns the compiled options of a worker. */
export function compiledOptions(
  options: WorkerOptions,
  parts: CompiledParts,
): CompiledWorkerOptions {
  const { namespace, identity, dataConverter, native } = parts;
  const rest = Object.fromEntries(
    Object.entries(options).filter(([name]) => !COMPILED.has(name)),
  ) as {
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
    ...makeTimeFields(
      "stickyQueueScheduleToStartTimeout",
      options.stickyQueueScheduleToStartTimeout ?? "10s",
    ),
    ...makeTimeFields(
      "maxHeartbeatThrottleInterval",
      options.maxHeartbeatThrottleInterval ?? "60s",
    ),
    ...makeTimeFields(
      "defaultHeartbeatThrottleInterval",
      options.defaultHeartbeatThrottleInterval ?? "30s",
    ),
    ...makeTimeFields("isolateExecutionTimeout", debugMode ? `${NO_LIMIT_MS}ms` : WATCHDOG),
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
    nexusServiceHandlers: adaptServices(options.nexusServices),
    tuner,
  };
}

/** Returns a duration as given, and in milliseconds. */
function makeTimeFields<N extends string>(name: N, value: Duration) {
  return { [name]: value, [`${name}Ms`]: msToNumber(value) } as
    & { [K in N]: Duration }
    & { [K in `${N}Ms`]: number };
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
