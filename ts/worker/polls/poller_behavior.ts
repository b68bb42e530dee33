// The number of polls in flight: options of users, as ranges for the pollers.

/**
 * Scales polls in flight between `minimum` and `maximum`, by suggestions of the service and by
 * load.
 */
export interface PollerBehaviorAutoscaling {
  /** Scales with the service's suggestions and the arriving tasks. */
  readonly type: "autoscaling";
  /** Default: 2. */
  readonly minimum?: number;
  /** Default: 32; 16 for the normal queue of workflow tasks. */
  readonly maximum?: number;
  /** Polls at the start. Default: `minimum`. */
  readonly initial?: number;
}

/** Keeps a fixed number of polls in flight while slots are free. */
export interface PollerBehaviorSimpleMaximum {
  /** A fixed number. */
  readonly type: "simple-maximum";
  /** Workflow tasks: a fifth polls the normal queue, the rest the sticky queue. Default: 5. */
  readonly maximum?: number;
}

/** Polls in flight. Named as in Temporal's SDK. */
export type PollerBehavior = PollerBehaviorAutoscaling | PollerBehaviorSimpleMaximum;

/** Polls of one queue in flight. */
export interface PollRange {
  readonly min: number;
  readonly initial: number;
  readonly max: number;
}

export interface WorkflowPollRanges {
  readonly normal: PollRange;
  /** Undefined: the worker has no sticky queue. */
  readonly sticky: PollRange | undefined;
}

const MIN = 2;
const MAX = 32;
const MAX_NORMAL = 16;
const FIXED = 5;
/** Share of a fixed number of workflow task polls for the normal queue. */
const COMMON_PART = 0.2;

function check(name: string, behavior: PollerBehavior): PollerBehavior {
  const whole = (key: string, value: number | undefined, least: number) => {
    if (value !== undefined && (!Number.isInteger(value) || value < least)) {
      throw new RangeError(
        `the worker's ${name}.${key} must be a whole number of at least ${least}, not ${value}`,
      );
    }
  };
  switch (behavior.type) {
    case "simple-maximum":
      whole("maximum", behavior.maximum, 1);
      return behavior;
    case "autoscaling":
      whole("minimum", behavior.minimum, 1);
      whole("maximum", behavior.maximum, behavior.minimum ?? 1);
      whole("initial", behavior.initial, behavior.minimum ?? 1);
      return behavior;
    default:
      throw new TypeError(
        `the worker's ${name}.type must be "autoscaling" or "simple-maximum", not ${
          JSON.stringify((behavior as { type: unknown }).type)
        }`,
      );
  }
}

/** Limits polls to slots, because each poll may bring a task. */
function within(slots: number, range: PollRange): PollRange {
  const max = Math.max(1, Math.min(range.max, slots));
  return {
    max,
    min: Math.min(range.min, max),
    initial: Math.min(Math.max(range.initial, range.min), max),
  };
}

const fixedRange = (polls: number, slots: number): PollRange =>
  within(slots, { min: polls, initial: polls, max: polls });

function ranged(behavior: PollerBehavior, otherwise: number, slots: number): PollRange {
  if (behavior.type === "simple-maximum") return fixedRange(behavior.maximum ?? FIXED, slots);
  const {
    minimum = Math.min(MIN, behavior.maximum ?? MIN),
    maximum = Math.max(otherwise, minimum),
    initial = minimum,
  } = behavior;
  return within(slots, { min: minimum, initial, max: maximum });
}

export function activityPolls(
  behavior: PollerBehavior = { type: "autoscaling" },
  slots: number,
): PollRange {
  return ranged(check("activityTaskPollerBehavior", behavior), MAX, slots);
}

export function nexusPolls(
  behavior: PollerBehavior = { type: "autoscaling" },
  slots: number,
): PollRange {
  return ranged(check("nexusTaskPollerBehavior", behavior), MAX, slots);
}

/** Divides the slots between both queues, so that waiting polls of one do not starve the other. */
export function workflowPolls(
  behavior: PollerBehavior = { type: "autoscaling" },
  slots: number,
  sticky: boolean,
  commonPart = COMMON_PART,
): WorkflowPollRanges {
  check("workflowTaskPollerBehavior", behavior);
  if (!sticky) return { normal: ranged(behavior, MAX_NORMAL, slots), sticky: undefined };
  if (behavior.type === "simple-maximum") {
    const { maximum = FIXED } = behavior;
    if (maximum < 2) {
      throw new RangeError(
        `the worker's workflowTaskPollerBehavior.maximum must be at least 2: cached runs use a separate queue (set cachedWorkflows: 0 to disable the cache)`,
      );
    }
    const common = Math.max(1, Math.min(maximum - 1, Math.floor(maximum * commonPart)));
    const normal = fixedRange(common, Math.floor(slots / 2));
    return { normal, sticky: fixedRange(maximum - normal.max, slots - normal.max) };
  }
  const normal = ranged(behavior, MAX_NORMAL, Math.floor(slots / 2));
  return { normal, sticky: ranged(behavior, MAX, slots - normal.max) };
}
