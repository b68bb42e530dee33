// How many polls are in flight: what users say, as the ranges that pollers keep to.

/** Between `minimum` and `maximum` polls in flight, by what the service suggests and by how busy the polls are. */
export interface PollerBehaviorAutoscaling {
  /** As many polls as the service says, and the tasks that come ask for. */
  readonly type: "autoscaling";
  /** Never fewer. Default: 2. */
  readonly minimum?: number;
  /** Never more. Default: 32; 16 on the common queue of workflow tasks. */
  readonly maximum?: number;
  /** At first. Default: the minimum. */
  readonly initial?: number;
}

/** Always so many polls in flight, as long as there are slots for what they may bring. */
export interface PollerBehaviorSimpleMaximum {
  /** A fixed number. */
  readonly type: "simple-maximum";
  /** Of workflow tasks: a fifth on the common queue, the others on the worker's own (sticky) one. Default: 5. */
  readonly maximum?: number;
}

/** How many polls are in flight. Named as in Temporal's SDK. */
export type PollerBehavior = PollerBehaviorAutoscaling | PollerBehaviorSimpleMaximum;

/** Polls of one queue in flight. */
export interface PollRange {
  readonly min: number;
  readonly initial: number;
  readonly max: number;
}

export interface WorkflowPollRanges {
  readonly normal: PollRange;
  /** Undefined: there is no sticky queue. */
  readonly sticky: PollRange | undefined;
}

const MIN = 2;
const MAX = 32;
const MAX_NORMAL = 16;
const FIXED = 5;
/** Of a fixed number of polls for workflow tasks: those that ask the common queue. */
const COMMON_PART = 0.2;

function check(name: string, behavior: PollerBehavior): PollerBehavior {
  const whole = (key: string, value: number | undefined, least: number) => {
    if (value !== undefined && (!Number.isInteger(value) || value < least)) {
      throw new RangeError(`the worker's ${name}.${key} must be a whole number of at least ${least}, not ${value}`);
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

/** No more polls than there are slots: each may bring a task. */
function within(slots: number, range: PollRange): PollRange {
  const max = Math.max(1, Math.min(range.max, slots));
  return { max, min: Math.min(range.min, max), initial: Math.min(Math.max(range.initial, range.min), max) };
}

function ranged(behavior: PollerBehavior, otherwise: number, slots: number): PollRange {
  if (behavior.type === "simple-maximum") {
    const fixed = behavior.maximum ?? FIXED;
    return within(slots, { min: fixed, initial: fixed, max: fixed });
  }
  const { minimum = Math.min(MIN, behavior.maximum ?? MIN), maximum = Math.max(otherwise, minimum), initial = minimum } =
    behavior;
  return within(slots, { min: minimum, initial, max: maximum });
}

export function activityPolls(behavior: PollerBehavior = { type: "autoscaling" }, slots: number): PollRange {
  return ranged(check("activityTaskPollerBehavior", behavior), MAX, slots);
}

export function nexusPolls(behavior: PollerBehavior = { type: "autoscaling" }, slots: number): PollRange {
  return ranged(check("nexusTaskPollerBehavior", behavior), MAX, slots);
}

/** The slots are shared by both queues: a poller that waits holds one, and must not keep the other queue from having any. */
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
    const normal = ranged(
      { type: "simple-maximum", maximum: Math.max(1, Math.min(maximum - 1, Math.floor(maximum * commonPart))) },
      1,
      Math.floor(slots / 2),
    );
    return {
      normal,
      sticky: ranged({ type: "simple-maximum", maximum: maximum - normal.max }, 1, slots - normal.max),
    };
  }
  const normal = ranged(behavior, MAX_NORMAL, Math.floor(slots / 2));
  return { normal, sticky: ranged(behavior, MAX, slots - normal.max) };
}
