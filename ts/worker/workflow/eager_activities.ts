// Eager execution: activities that the service returns in the response to the report that schedules
// them, which saves a poll. The worker reserves slots and requests them; the service may decline.
// The request is not part of history: it is added to the encoded report, and replay does not see
// it.
import {
  Command,
  RespondWorkflowTaskCompletedRequest as Report,
  ScheduleActivityTaskCommandAttributes as Schedule,
  TaskQueue,
} from "../../messages/generated/fields.ts";
import { Fields, firstOf, Message, readTextField } from "../../messages/wire.ts";
import type { Slots } from "../polls/slots.ts";

/** Maximum per report, as in Temporal's SDKs; the others go through the queue to any worker. */
export const MAX_EAGER_ACTIVITIES = 3;

const EAGER = new Message().bool(Schedule.requestEagerExecution, true).finish();

export interface EagerOptions {
  taskQueue: string;
  slots: Slots;
  /** Maximum per report. Default: MAX_EAGER_ACTIVITIES. */
  most?: number;
  /** Processes a task; `release` frees its slot. */
  work: (task: Uint8Array, release: () => void) => void;
}

/** The eager request of one report. */
export interface EagerAsk {
  /** The report with the request in it. */
  readonly request: Uint8Array;
  /** Called once with the tasks in the response; with none if the call failed. */
  answered(tasks: readonly Uint8Array[]): void;
}

export class EagerActivities {
  readonly #options: EagerOptions;
  #open = 0;
  #whenAnswered: (() => void)[] = [];

  constructor(options: EagerOptions) {
    this.#options = options;
  }

  /**
   * Requests activities that a report (RespondWorkflowTaskCompletedRequest) schedules, one per free
   * slot, except those with the ids `not`. Undefined if it requests none.
   */
  ask(report: Uint8Array, not: readonly string[] = []): EagerAsk | undefined {
    const { taskQueue, slots, work, most = MAX_EAGER_ACTIVITIES } = this.#options;
    const reserved: (() => void)[] = [];
    const request = askEagerly(report, taskQueue, () => {
      const release = reserved.length < most ? slots.tryAcquire() : undefined;
      if (release !== undefined) reserved.push(release);
      return release !== undefined;
    }, not);
    if (request === undefined) return undefined;
    this.#open++;
    return {
      request,
      answered: (tasks) => {
        // A service may return more than requested; no other worker would run them.
        for (const task of tasks) work(task, reserved.pop() ?? (() => {}));
        for (const release of reserved.splice(0)) release();
        if (--this.#open === 0) { for (const resolve of this.#whenAnswered.splice(0)) resolve(); }
      },
    };
  }

  /** Resolves when no report with a request is in flight. */
  idle(): Promise<void> {
    return this.#open === 0
      ? Promise.resolve()
      : new Promise((resolve) => this.#whenAnswered.push(resolve));
  }
}

/**
 * Returns the report with a request for each activity on `taskQueue`, until `wanted` returns false;
 * undefined if it requests none.
 */
export function askEagerly(
  report: Uint8Array,
  taskQueue: string,
  wanted: () => boolean,
  not: readonly string[] = [],
): Uint8Array | undefined {
  let amended: Message | undefined;
  let copied = 0;
  for (const at = new Fields(report); at.next();) {
    if (at.tag !== Report.commands) continue;
    const command = at.bytes();
    const attributes = scheduled(command);
    if (attributes === undefined || queueOf(attributes.bytes()) !== taskQueue) {
      continue;
    }
    if (
      not.length > 0 &&
      not.includes(readTextField(attributes.bytes(), Schedule.activityId) ?? "")
    ) continue;
    if (!wanted()) break;
    amended ??= new Message();
    amended.raw(report.subarray(copied, at.start)).message(
      Report.commands,
      (message) =>
        message.raw(command.subarray(0, attributes.start))
          .message(Command.scheduleActivityTaskCommandAttributes, (inner) =>
            inner.raw(attributes.bytes()).raw(EAGER))
          .raw(command.subarray(attributes.end)),
    );
    copied = at.end;
  }
  return amended?.raw(report.subarray(copied)).finish();
}

/** Returns a reader at the attributes of a command that schedules an activity. */
function scheduled(command: Uint8Array): Fields | undefined {
  const at = new Fields(command);
  while (at.next()) if (at.tag === Command.scheduleActivityTaskCommandAttributes) return at;
  return undefined;
}

function queueOf(attributes: Uint8Array): string {
  const queue = firstOf(attributes, Schedule.taskQueue);
  return queue === undefined ? "" : readTextField(queue, TaskQueue.name);
}
