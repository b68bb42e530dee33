// Activities that come back with the report that scheduled them (eager execution): the worker reserves slots, asks for those activities, and
// the service may answer with their tasks, which saves the way through the queue and a poll. The service may always decline. What is asked
// is no part of history, so it is added to the encoded request and nothing in a replay knows of it.
import {
  Command,
  RespondWorkflowTaskCompletedRequest as Report,
  ScheduleActivityTaskCommandAttributes as Schedule,
  TaskQueue,
} from "../api/generated/fields.ts";
import { Fields, firstOf, Message, readTextField } from "../api/wire.ts";
import type { Slots } from "./slots.ts";

/** Of one report, at most; the others go through the queue, where other workers may take them. As in Temporal's SDKs. */
export const MAX_EAGER_ACTIVITIES = 3;

const EAGER = new Message().bool(Schedule.requestEagerExecution, true).finish();

export interface EagerOptions {
  /** The queue that the worker takes activities from. */
  taskQueue: string;
  /** Of activities. */
  slots: Slots;
  /** Asked for with one report, at most. Default: as Temporal's SDKs have it. */
  most?: number;
  /** Works on a task; the slot is given back when it is done. */
  work: (task: Uint8Array, release: () => void) => void;
}

/** What is asked with one report. */
export interface EagerAsk {
  /** The report with the wishes in it. */
  readonly request: Uint8Array;
  /** Called once, with the tasks that came with the answer, or none when there was no answer. */
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
   * Asks for activities that a report (RespondWorkflowTaskCompletedRequest) schedules, as far as there are slots, but not for those with
   * the ids `not`; undefined: for none.
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
        // A service that gives more than it was asked for is served all the same: nobody else will run them.
        for (const task of tasks) work(task, reserved.pop() ?? (() => {}));
        for (const release of reserved.splice(0)) release();
        if (--this.#open === 0) { for (const resolve of this.#whenAnswered.splice(0)) resolve(); }
      },
    };
  }

  /** Resolves when no report that asked is on its way: nothing comes from here until `ask` is called again. */
  idle(): Promise<void> {
    return this.#open === 0 ? Promise.resolve() : new Promise((resolve) => this.#whenAnswered.push(resolve));
  }
}

/**
 * A RespondWorkflowTaskCompletedRequest that asks for those of its activities on `taskQueue` that `wanted` agrees to, one after the other
 * until it does not; undefined when that is none.
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
          .message(Command.scheduleActivityTaskCommandAttributes, (inner) => inner.raw(attributes.bytes()).raw(EAGER))
          .raw(command.subarray(attributes.end)),
    );
    copied = at.end;
  }
  return amended?.raw(report.subarray(copied)).finish();
}

/** At the attributes of a command that schedules an activity. */
function scheduled(command: Uint8Array): Fields | undefined {
  const at = new Fields(command);
  while (at.next()) if (at.tag === Command.scheduleActivityTaskCommandAttributes) return at;
  return undefined;
}

function queueOf(attributes: Uint8Array): string {
  const queue = firstOf(attributes, Schedule.taskQueue);
  return queue === undefined ? "" : readTextField(queue, TaskQueue.name);
}
