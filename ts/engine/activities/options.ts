// Options of standalone activities: the checks of a start, and their changes by operators.
import { create } from "@bufbuild/protobuf";
import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  type ActivityOptions,
  ActivityOptionsSchema,
} from "../../messages/generated/temporal/api/activity/v1/message_pb.ts";
import type {
  StartActivityExecutionRequest,
  UpdateActivityExecutionOptionsRequest,
} from "../../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { invalid } from "../host_bytes.ts";
import { durationMsOrZero, durationOfMs } from "../schedules/durations.ts";
import { checkedRetryPolicy } from "./retries.ts";
import type { LiveActivity } from "./state.ts";

/** UTF-8 bytes of an id, a type or a queue name. */
const MAX_NAME_BYTES = 1000;
const utf8 = new TextEncoder();

/** Throws a ServiceError for a text that is empty, too long, or not storable. */
export function checkName(what: string, name: string): void {
  if (name === "") throw invalid(`${what} is not set on request.`);
  const bytes = utf8.encode(name).length;
  if (bytes > MAX_NAME_BYTES) {
    throw invalid(`${what} has ${bytes} bytes, at most ${MAX_NAME_BYTES}.`);
  }
  if (name.includes("\0")) throw invalid(`${what} contains a NUL character.`);
}

export function checkQueue(name: string): void {
  checkName("TaskQueue", name);
  if (name.startsWith("/_sys/")) {
    throw invalid("TaskQueue cannot start with the reserved prefix /_sys/.");
  }
}

type Options = Pick<
  StartActivityExecutionRequest,
  | "scheduleToCloseTimeout"
  | "scheduleToStartTimeout"
  | "startToCloseTimeout"
  | "heartbeatTimeout"
  | "retryPolicy"
  | "startDelay"
>;

function readMs(name: string, duration: Duration | undefined): number {
  const ms = durationMsOrZero(duration);
  if (ms < 0) throw invalid(`invalid ${name}: it is negative (${ms} ms).`);
  return ms;
}

/** Fills timeouts and retry policy as a server does. Throws a ServiceError for invalid options. */
export function checkedOptions<O extends Options>(options: O, activityId: string): O {
  let closeMs = readMs("ScheduleToCloseTimeout", options.scheduleToCloseTimeout);
  let startMs = readMs("ScheduleToStartTimeout", options.scheduleToStartTimeout);
  let runMs = readMs("StartToCloseTimeout", options.startToCloseTimeout);
  const heartbeatMs = readMs("HeartbeatTimeout", options.heartbeatTimeout);
  readMs("StartDelay", options.startDelay);
  if (closeMs > 0) {
    startMs = startMs > 0 ? Math.min(startMs, closeMs) : closeMs;
    runMs = runMs > 0 ? Math.min(runMs, closeMs) : closeMs;
  } else if (runMs === 0) {
    throw invalid(
      `a valid StartToCloseTimeout or ScheduleToCloseTimeout must be set on the activity. ActivityId=${activityId}`,
    );
  } else closeMs = 0;
  return {
    ...options,
    scheduleToCloseTimeout: durationOfMs(closeMs),
    scheduleToStartTimeout: durationOfMs(startMs),
    startToCloseTimeout: durationOfMs(runMs),
    heartbeatTimeout: durationOfMs(Math.min(heartbeatMs, runMs)),
    retryPolicy: checkedRetryPolicy(options.retryPolicy),
  };
}

/** The options that an activity has now. */
export function optionsOf({ info }: LiveActivity): ActivityOptions {
  const {
    scheduleToCloseTimeout,
    scheduleToStartTimeout,
    startToCloseTimeout,
    heartbeatTimeout,
    retryPolicy,
    priority,
    startDelay,
  } = info;
  return create(ActivityOptionsSchema, {
    taskQueue: { name: info.taskQueue },
    ...(scheduleToCloseTimeout && { scheduleToCloseTimeout }),
    ...(scheduleToStartTimeout && { scheduleToStartTimeout }),
    ...(startToCloseTimeout && { startToCloseTimeout }),
    ...(heartbeatTimeout && { heartbeatTimeout }),
    ...(retryPolicy && { retryPolicy }),
    ...(priority && { priority }),
    ...(startDelay && { startDelay }),
  });
}

/** Options as fields of a start, which may be absent. */
const FIELDS = {
  scheduletoclosetimeout: "scheduleToCloseTimeout",
  scheduletostarttimeout: "scheduleToStartTimeout",
  starttoclosetimeout: "startToCloseTimeout",
  heartbeattimeout: "heartbeatTimeout",
  startdelay: "startDelay",
  priority: "priority",
} as const;

const RETRY_FIELDS = {
  initialinterval: "initialInterval",
  backoffcoefficient: "backoffCoefficient",
  maximuminterval: "maximumInterval",
  maximumattempts: "maximumAttempts",
  nonretryableerrortypes: "nonRetryableErrorTypes",
} as const;

/** Returns the options after an update. Throws a ServiceError for an unknown path. */
export function updatedOptions(
  current: ActivityOptions,
  { activityOptions: given, updateMask }: UpdateActivityExecutionOptionsRequest,
): ActivityOptions {
  if (given === undefined) throw invalid("ActivityOptions are not provided");
  if (updateMask === undefined) throw invalid("UpdateMask is not provided");
  const next = { ...current };
  for (const written of updateMask.paths) {
    const path = written.replaceAll("_", "").toLowerCase();
    const [field, nested] = path.split(".");
    if (path === "taskqueue" || path === "taskqueue.name") {
      if (given.taskQueue === undefined) throw invalid("TaskQueue is not provided");
      next.taskQueue = given.taskQueue;
    } else if (path === "retrypolicy") {
      setOrClear(next, "retryPolicy", given.retryPolicy);
    } else if (field === "retrypolicy" && nested !== undefined && nested in RETRY_FIELDS) {
      if (given.retryPolicy === undefined) throw invalid("RetryPolicy is not provided");
      const name = RETRY_FIELDS[nested as keyof typeof RETRY_FIELDS];
      next.retryPolicy = { ...next.retryPolicy!, [name]: given.retryPolicy[name] };
    } else if (field !== undefined && field in FIELDS) {
      const name = FIELDS[field as keyof typeof FIELDS];
      setOrClear(next, name, given[name]);
    } else throw invalid(`unknown path "${written}" in UpdateMask`);
  }
  return next;
}

function setOrClear<K extends keyof ActivityOptions>(
  options: ActivityOptions,
  name: K,
  value: ActivityOptions[K] | undefined,
): void {
  if (value === undefined) delete options[name];
  else options[name] = value;
}
