// Converts options of `Worker.create` for a worker of this package. Each option is applied or
// rejected by name: a silently ignored option would show much later as unexpected behavior.
import { productConverter } from "../common/payload_converters.ts";
import { msOptionalToNumber, msToNumber } from "../common/time.ts";
import { encodesErrorText } from "../common/data_converter.ts";
import type { Duration, LoadedDataConverter } from "../common/mod.ts";
import { receivedPayloads } from "../client/received_payloads.ts";
import type { PayloadCodec as NativeCodec } from "../../codec/codec.ts";
import { KEEPS_FAILURE_TEXT } from "../../codec/message_codec.ts";
import type { WorkerOptions as NativeOptions } from "../../worker/options.ts";
import type { PollerBehavior as NativeBehavior } from "../../worker/polls/poller_behavior.ts";
import { refuseOption } from "./runtime_options.ts";
import { countSlots, type SlotCounts } from "./tuner.ts";
import type { PollerBehavior, ReplayWorkerOptions, WorkerOptions } from "./worker_options.ts";

/**
 * Same as the official worker's `isolateExecutionTimeout`: each run evaluates its modules, which
 * takes time on a busy machine.
 */
export const WATCHDOG = "5s";

/** Unsupported options with advice. Values without effect are accepted. */
const REFUSED: {
  readonly [option: string]: readonly [asks: (value: unknown) => boolean, why: string];
} = {
  patchActivationCallback: [() => true, "patched() of new runs is always true; omit it"],
  workflowFailureErrorTypes: [
    (value) => Object.values(value as object).some(namesDivergence),
    'a run that diverges from its history fails its task; omit "NondeterminismError" and "DeterminismViolationError"',
  ],
};
const DIVERGENCES = ["NondeterminismError", "DeterminismViolationError"];

/** Also throws a TypeError if the value is not a list of names. */
function namesDivergence(types: unknown): boolean {
  if (types === undefined) return false;
  if (!Array.isArray(types) || !types.every((name) => typeof name === "string")) {
    throw new TypeError(
      "WorkerOptions.workflowFailureErrorTypes must have a list of names for each workflow type",
    );
  }
  return types.some((name) => DIVERGENCES.includes(name));
}

/** All options; others are misspelled. */
const KNOWN: ReadonlySet<string> = new Set([
  ...Object.keys(REFUSED),
  ..."connection identity buildId useVersioning workerDeploymentOptions namespace taskQueue activities workflowsPath workflowBundle shutdownGraceTime"
    .split(" "),
  ..."shutdownForceTime dataConverter tuner maxConcurrentActivityTaskExecutions maxConcurrentLocalActivityExecutions"
    .split(" "),
  ..."maxConcurrentNexusTaskExecutions enableNonLocalActivities disablePayloadErrorLimit maxActivitiesPerSecond"
    .split(" "),
  ..."maxTaskQueueActivitiesPerSecond maxEagerActivityReservationsPerWorkflowTask maxConcurrentWorkflowTaskExecutions"
    .split(" "),
  ..."nonStickyToStickyPollRatio maxConcurrentWorkflowTaskPolls workflowTaskPollerBehavior activityTaskPollerBehavior"
    .split(" "),
  ..."nexusTaskPollerBehavior maxConcurrentActivityTaskPolls maxConcurrentNexusTaskPolls stickyQueueScheduleToStartTimeout"
    .split(
      " ",
    ),
  ..."maxCachedWorkflows workflowThreadPoolSize maxHeartbeatThrottleInterval defaultHeartbeatThrottleInterval interceptors"
    .split(
      " ",
    ),
  ..."nexusServices plugins sinks enableSDKTracing debugMode reuseV8Context bundlerOptions replayName showStackTraceSources"
    .split(" "),
]);

/** Options of replays that workers do not have. */
const REPLAY_ONLY: ReadonlySet<string> = new Set(["values"]);

/** Throws a TypeError that names an unsupported option. */
export function refuseOptions(
  options: WorkerOptions | ReplayWorkerOptions,
  isReplay = false,
): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || value === null) continue;
    if (!KNOWN.has(name) && !(isReplay && REPLAY_ONLY.has(name))) {
      throw new TypeError(`unknown option WorkerOptions.${name}`);
    }
    const [asks, why] = REFUSED[name] ?? [];
    if (asks?.(value) === true) refuseOption(`WorkerOptions.${name}`, why!);
  }
}

/** Returns the numbers of slots. */
function slots(options: WorkerOptions): SlotCounts {
  const {
    tuner,
    maxConcurrentWorkflowTaskExecutions: workflowTasks,
    maxConcurrentActivityTaskExecutions: activities,
    maxConcurrentLocalActivityExecutions: localActivities,
    maxConcurrentNexusTaskExecutions: nexusTasks,
  } = options;
  const both = {
    maxConcurrentActivityTaskExecutions: activities,
    maxConcurrentLocalActivityExecutions: localActivities,
  };
  // Too few workflow tasks become two, below.
  for (
    const [name, value] of Object.entries({ ...both, maxConcurrentNexusTaskExecutions: nexusTasks })
  ) {
    if (value === undefined || (Number.isInteger(value) && value >= 1)) continue;
    throw new TypeError(`WorkerOptions.${name} must be a whole number of at least 1, not ${value}`);
  }
  if (tuner === undefined) {
    return {
      workflowTasks: workflowTasks ?? 40,
      activities: activities ?? 100,
      localActivities: localActivities ?? 100,
      nexusTasks: nexusTasks ?? 100,
    };
  }
  for (
    const [name, value] of Object.entries({
      ...both,
      maxConcurrentWorkflowTaskExecutions: workflowTasks,
    })
  ) {
    if (value !== undefined) throw new TypeError(`Cannot set both tuner and ${name}`);
  }
  return countSlots(tuner);
}

/**
 * Returns the official defaults: ten polls; with autoscaling, five initially. Throws a TypeError
 * for an unknown type.
 */
export function pollerBehavior(
  given: PollerBehavior | undefined,
  polls: number,
  least = 1,
): Required<NativeBehavior> {
  if (given?.type === "autoscaling") {
    const { minimum = 1, maximum = 100, initial = 5 } = given;
    return {
      type: "autoscaling",
      minimum,
      maximum,
      initial: Math.max(minimum, Math.min(initial, maximum)),
    };
  }
  if (given !== undefined && given.type !== "simple-maximum") {
    throw new TypeError(`Unknown poller behavior type: ${(given as { type: unknown }).type}`);
  }
  const maximum = given?.maximum ?? polls;
  return { type: "simple-maximum", maximum: Math.max(least, maximum) };
}

/**
 * Returns the converter for activities, and the codecs. A failure converter that encodes the text
 * of errors makes the worker hide it as well.
 */
export function converters(
  converter: LoadedDataConverter,
): Pick<NativeOptions, "converter" | "codec" | "encodeCommonAttributes"> {
  const { payloadConverter, payloadCodecs } = converter;
  return {
    converter: productConverter(payloadConverter),
    ...(payloadCodecs.length > 0 &&
      {
        codec: payloadCodecs.map(nativeCodec),
        encodeCommonAttributes: encodesErrorText(converter),
      }),
  };
}

/** Adapts a codec of the program. */
function nativeCodec(codec: LoadedDataConverter["payloadCodecs"][number]): NativeCodec {
  return {
    ...{ [KEEPS_FAILURE_TEXT]: true },
    encode: (payloads) => codec.encode(payloads) as ReturnType<NativeCodec["encode"]>,
    decode: (payloads) =>
      codec.decode(receivedPayloads(payloads)) as ReturnType<NativeCodec["decode"]>,
  };
}

/** Returns the error types that fail a run, for the native worker and for replays. */
export function failureErrorTypes(
  { workflowFailureErrorTypes }: Pick<WorkerOptions, "workflowFailureErrorTypes">,
): Pick<NativeOptions, "failureErrorTypes"> {
  return workflowFailureErrorTypes === undefined
    ? {}
    : { failureErrorTypes: workflowFailureErrorTypes };
}

/** Returns milliseconds; undefined if the option is not set. */
const ms = (duration: Duration | undefined): number | undefined => msOptionalToNumber(duration);

type Always =
  | "maxConcurrentWorkflowTasks"
  | "maxConcurrentActivities"
  | "maxConcurrentLocalActivities"
  | "maxConcurrentNexusTasks"
  | "cachedWorkflows"
  | "commonQueuePart";

/** Numbers and times of a worker. */
export interface Numbers
  extends Omit<Partial<NativeOptions>, Always>, Required<Pick<NativeOptions, Always>> {
  readonly workflowTaskPollerBehavior: Required<NativeBehavior>;
  readonly activityTaskPollerBehavior: Required<NativeBehavior>;
  readonly nexusTaskPollerBehavior: Required<NativeBehavior>;
}

/** Converts limits and times of a worker. Throws a TypeError that names an invalid option. */
export function limits(options: WorkerOptions, warn: (message: string) => void): Numbers {
  const count = slots(options);
  let cachedWorkflows = options.maxCachedWorkflows ?? 1000;
  let workflowTasks = count.workflowTasks;
  if (cachedWorkflows === 1) {
    warn(
      "maxCachedWorkflows must be either 0 (ie. cache is disabled) or greater than 1. Defaulting to 2.",
    );
    cachedWorkflows = 2;
  }
  if (cachedWorkflows > 0 && workflowTasks > cachedWorkflows) {
    if (options.maxConcurrentWorkflowTaskExecutions !== undefined) {
      warn(
        "maxConcurrentWorkflowTaskExecutions can't exceed maxCachedWorkflows (unless cache is disabled). " +
          "Defaulting to maxCachedWorkflows.",
      );
    }
    workflowTasks = cachedWorkflows;
  }
  if (cachedWorkflows > 0 && workflowTasks < 2) {
    warn(
      "maxConcurrentWorkflowTaskExecutions can't be lower than 2 if maxCachedWorkflows is non-zero. Defaulting to 2.",
    );
    workflowTasks = 2;
  }
  if (options.useVersioning === true && !options.buildId) {
    throw new TypeError("Must provide a buildId if useVersioning is true");
  }
  const eager = options.maxEagerActivityReservationsPerWorkflowTask;
  if (eager !== undefined && (!Number.isSafeInteger(eager) || eager < 0)) {
    throw new TypeError(
      "maxEagerActivityReservationsPerWorkflowTask must be a non-negative integer",
    );
  }
  const throttle = {
    defaultMs: msToNumber(options.defaultHeartbeatThrottleInterval ?? "30s"),
    maximumMs: msToNumber(options.maxHeartbeatThrottleInterval ?? "60s"),
  };
  const warnBytes = options.connection?.options.payloadLimits?.payloadsWarnSize;
  return {
    maxConcurrentWorkflowTasks: workflowTasks,
    maxConcurrentActivities: count.activities,
    maxConcurrentLocalActivities: count.localActivities,
    maxConcurrentNexusTasks: count.nexusTasks,
    cachedWorkflows,
    workflowTaskPollerBehavior: pollerBehavior(
      options.workflowTaskPollerBehavior,
      options.maxConcurrentWorkflowTaskPolls ?? Math.min(10, workflowTasks),
      cachedWorkflows > 0 ? 2 : 1,
    ),
    activityTaskPollerBehavior: pollerBehavior(
      options.activityTaskPollerBehavior,
      options.maxConcurrentActivityTaskPolls ?? Math.min(10, count.activities),
    ),
    nexusTaskPollerBehavior: pollerBehavior(
      options.nexusTaskPollerBehavior,
      options.maxConcurrentNexusTaskPolls ?? Math.min(10, count.nexusTasks),
    ),
    commonQueuePart: options.nonStickyToStickyPollRatio ?? 0.2,
    ...(options.maxActivitiesPerSecond !== undefined &&
      { maxActivitiesPerSecond: options.maxActivitiesPerSecond }),
    ...(options.maxTaskQueueActivitiesPerSecond !== undefined && {
      maxTaskQueueActivitiesPerSecond: options.maxTaskQueueActivitiesPerSecond,
    }),
    ...(eager !== undefined && { maxEagerActivities: eager }),
    localActivitiesOnly: options.enableNonLocalActivities === false,
    stickyScheduleToStartTimeout: ms(options.stickyQueueScheduleToStartTimeout) ?? 10_000,
    shutdownGraceMs: ms(options.shutdownGraceTime) ?? 0,
    heartbeatThrottle: throttle,
    payloadLimits: {
      ...(warnBytes !== undefined && { warnBytes: warnBytes === 0 ? Infinity : warnBytes }),
      ...(options.disablePayloadErrorLimit === true && { errorBytes: Infinity }),
    },
    // A debugger stops code for any time.
    watchdogMs: options.debugMode === true ? 0 : msToNumber(WATCHDOG),
    ...(options.workflowThreadPoolSize !== undefined &&
      { workflowThreads: options.workflowThreadPoolSize }),
    ...(options.buildId !== undefined &&
      { buildStamp: { buildId: options.buildId, useVersioning: options.useVersioning === true } }),
    ...(options.workerDeploymentOptions !== undefined &&
      { workerDeploymentOptions: options.workerDeploymentOptions }),
  };
}
