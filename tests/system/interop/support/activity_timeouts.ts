// How an activity ends by its four timeouts: every combination of them, unset, short or long, in
// several lives, led by bare calls on any server, all at once. A verdict is one line of text: what
// was scheduled, and the event that ended the activity.
import { delay } from "@std/async/delay";
import { enumName } from "../../../../ts/converter/enums.ts";
import { Code, type RawService, ServiceError } from "../../../../ts/service/raw.ts";
import { type TypedService, typedService } from "../../../../ts/service/typed.ts";
import { CommandType } from "../../../../ts/messages/generated/temporal/api/enums/v1/command_type_pb.ts";
import { TimeoutType } from "../../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import { RetryState } from "../../../../ts/messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { Failure } from "../../../../ts/messages/generated/temporal/api/failure/v1/message_pb.ts";

/** Between attempts, where the life has a second one. */
const BACKOFF = 100;

/** A workflow's first task, which nothing can end. */
const TASK_WITHIN_MS = 120_000;

/** Milliseconds of timeouts that are set. */
export interface TimeoutSpans {
  readonly shortMs: number;
  readonly longMs: number;
}

/** unset, short, long */
export type Span = "-" | "s" | "l";
/**
 * never: no worker takes it. held: a worker takes it and never reports. beats: as held, with one
 * heartbeat that has details. backoff: the first attempt fails, and the next one is due in a
 * minute. queued: the next one is due at once, and no worker takes it. again: a worker takes that
 * one, too, and never reports.
 */
export const LIVES = [
  "never",
  "held",
  "beats",
  "backoff",
  "queued",
  "again",
] as const;
export type Life = typeof LIVES[number];

export interface TimeoutCase {
  /** scheduleToClose, scheduleToStart, startToClose, heartbeat */
  readonly spans: readonly [Span, Span, Span, Span];
  readonly life: Life;
  /** Attempts at most; 0: as many as there is time for, which no worker takes. */
  readonly attempts: 0 | 1;
}

export const nameOf = ({ spans, life, attempts }: TimeoutCase): string =>
  `${spans.join("")} ${life} ${attempts}`;

const SPANS: readonly Span[] = ["-", "s", "l"];

/** Every combination that a server takes: startToClose or scheduleToClose is set. */
export function timeoutCases(): TimeoutCase[] {
  const cases: TimeoutCase[] = [];
  for (const life of LIVES) {
    for (const attempts of [0, 1] as const) {
      // A second attempt needs leave.
      if (attempts === 1 && !["never", "held", "beats"].includes(life)) {
        continue;
      }
      for (const toClose of SPANS) {
        for (const toStart of SPANS) {
          for (const run of SPANS) {
            for (const beat of SPANS) {
              if (toClose === "-" && run === "-") continue;
              cases.push({
                spans: [toClose, toStart, run, beat],
                life,
                attempts,
              });
            }
          }
        }
      }
    }
  }
  return cases;
}

const duration = (ms: number) => ({
  seconds: BigInt(Math.floor(ms / 1000)),
  nanos: (ms % 1000) * 1e6,
});
const details = {
  payloads: [{
    metadata: { encoding: new TextEncoder().encode("json/plain") },
    data: new TextEncoder().encode('"beat"'),
  }],
};
/** Its kinds of timeout, outermost first. */
function failureText(failure: Failure | undefined): string {
  const parts: string[] = [];
  for (let part = failure; part !== undefined; part = part.cause) {
    const info = part.failureInfo;
    parts.push(
      info.case === "timeoutFailureInfo"
        ? `${enumName(TimeoutType, info.value.timeoutType)}${
          info.value.lastHeartbeatDetails === undefined ? "" : "(beat)"
        }: ${part.message}`
        : part.message,
    );
  }
  return parts.join(" < ");
}

export class TimeoutLab {
  readonly #service: TypedService;
  readonly #namespace = "default";
  readonly #queue: string;
  readonly #shortMs: number;
  readonly #longMs: number;

  /**
   * A server is late with timers by up to a second or two: the two spans have to be further apart
   * than that.
   */
  constructor(
    raw: RawService,
    queue: string,
    { shortMs, longMs }: TimeoutSpans,
  ) {
    this.#service = typedService(raw);
    this.#queue = queue;
    this.#shortMs = shortMs;
    this.#longMs = longMs;
  }

  /** What two attempts take at most, one after the other. */
  get #endMs(): number {
    return 2 * this.#longMs + 5_000;
  }

  #spanOf(span: Span): { seconds?: bigint; nanos?: number } {
    return span === "-" ? {} : duration(span === "s" ? this.#shortMs : this.#longMs);
  }

  #nameOf(given: { seconds: bigint; nanos: number } | undefined): string {
    const ms = given === undefined ? 0 : Number(given.seconds) * 1000 + given.nanos / 1e6;
    return ms === 0 ? "-" : ms === this.#shortMs ? "s" : ms === this.#longMs ? "l" : `${ms}ms`;
  }

  /** One verdict for each case, in their order. */
  async run(cases: readonly TimeoutCase[]): Promise<string[]> {
    await Promise.all(cases.map(async (one, i) => {
      await this.#service.startWorkflowExecution({
        namespace: this.#namespace,
        workflowId: this.#id(i),
        requestId: this.#id(i),
        workflowType: { name: "T" },
        taskQueue: { name: this.#id(i) },
        workflowTaskTimeout: duration(60_000),
      });
      await this.#schedule(one, i);
      // A server that is this late has ended the activity before: the verdict shows it.
      await this.#lead(one, i).catch((error) => {
        if (
          !(error instanceof ServiceError) ||
          (error.code !== Code.NOT_FOUND &&
            error.code !== Code.DEADLINE_EXCEEDED)
        ) throw error;
      });
    }));
    await delay(this.#endMs);
    return await Promise.all(cases.map((_, i) => this.#verdict(i)));
  }

  #id(i: number): string {
    return `${this.#queue}-${i}`;
  }

  async #schedule(
    { spans, life, attempts }: TimeoutCase,
    i: number,
  ): Promise<void> {
    const name = this.#id(i);
    const { taskToken } = await this.#polled(
      TASK_WITHIN_MS,
      (timeoutMs) =>
        this.#service.pollWorkflowTaskQueue({
          namespace: this.#namespace,
          taskQueue: { name },
          identity: "lab",
        }, { timeoutMs }),
    );
    await this.#service.respondWorkflowTaskCompleted({
      namespace: this.#namespace,
      taskToken,
      identity: "lab",
      commands: [{
        commandType: CommandType.SCHEDULE_ACTIVITY_TASK,
        attributes: {
          case: "scheduleActivityTaskCommandAttributes",
          value: {
            activityId: "1",
            activityType: { name: "act" },
            taskQueue: { name },
            scheduleToCloseTimeout: this.#spanOf(spans[0]),
            scheduleToStartTimeout: this.#spanOf(spans[1]),
            startToCloseTimeout: this.#spanOf(spans[2]),
            heartbeatTimeout: this.#spanOf(spans[3]),
            retryPolicy: {
              initialInterval: duration(life === "backoff" ? 60_000 : BACKOFF),
              backoffCoefficient: 1,
              maximumAttempts: attempts,
            },
          },
        },
      }],
    });
  }

  async #lead({ life }: TimeoutCase, i: number): Promise<void> {
    if (life === "never") return;
    const first = await this.#take(i);
    if (life === "held") return;
    if (life === "beats") {
      await this.#service.recordActivityTaskHeartbeat({
        namespace: this.#namespace,
        taskToken: first,
        details,
        identity: "lab",
      });
      return;
    }
    await this.#service.respondActivityTaskFailed({
      namespace: this.#namespace,
      taskToken: first,
      identity: "lab",
      failure: {
        message: "again",
        failureInfo: { case: "applicationFailureInfo", value: { type: "E" } },
      },
    });
    if (life === "again") await this.#take(i);
  }

  async #take(i: number): Promise<Uint8Array> {
    const taskQueue = { name: this.#id(i) };
    const { taskToken } = await this.#polled(
      this.#endMs,
      (timeoutMs) =>
        this.#service.pollActivityTaskQueue({
          namespace: this.#namespace,
          taskQueue,
          identity: "lab",
        }, { timeoutMs }),
    );
    return taskToken;
  }

  /**
   * A busy server may return an empty poll response although a task is there. And it responds so
   * shortly before the deadline of a poll: an attempt that has timed out meanwhile never comes.
   */
  async #polled<R extends { taskToken: Uint8Array }>(
    withinMs: number,
    poll: (timeoutMs: number) => Promise<R>,
  ): Promise<R> {
    const end = performance.now() + withinMs;
    for (let left = withinMs; left > 0; left = end - performance.now()) {
      let task: R;
      try {
        task = await poll(left);
      } catch (error) {
        // What is left is less than a server takes for a poll: nothing came in time.
        if (/Context timeout is too short/.test((error as Error).message)) {
          break;
        }
        throw error;
      }
      if (task.taskToken.length > 0) return task;
    }
    throw new ServiceError(
      Code.DEADLINE_EXCEEDED,
      `no task within ${withinMs} ms`,
    );
  }

  async #verdict(i: number): Promise<string> {
    const { history } = await this.#service.getWorkflowExecutionHistory({
      namespace: this.#namespace,
      execution: { workflowId: this.#id(i) },
    });
    let scheduled = "", started = "", end = "open";
    for (const { attributes } of history!.events) {
      if (attributes.case === "activityTaskScheduledEventAttributes") {
        const {
          scheduleToCloseTimeout: a,
          scheduleToStartTimeout: b,
          startToCloseTimeout: c,
          heartbeatTimeout: d,
        } = attributes.value;
        scheduled = [a, b, c, d].map((span) => this.#nameOf(span)).join("");
      } else if (attributes.case === "activityTaskStartedEventAttributes") {
        started = ` attempt ${attributes.value.attempt}`;
      } else if (attributes.case === "activityTaskTimedOutEventAttributes") {
        end = `timed out, ${enumName(RetryState, attributes.value.retryState)}: ${
          failureText(attributes.value.failure)
        }`;
      } else if (attributes.case === "activityTaskFailedEventAttributes") {
        end = `failed, ${enumName(RetryState, attributes.value.retryState)}: ${
          failureText(attributes.value.failure)
        }`;
      }
    }
    return `${scheduled}${started} ${end}`;
  }
}
