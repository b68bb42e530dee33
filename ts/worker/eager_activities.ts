// Activities that come back with the report that scheduled them (eager execution): the worker reserves slots, asks for those activities, and
// the service may answer with their tasks, which saves the way through the queue and a poll. The service may always decline. What is asked
// is no part of history, so it is added to the encoded request and nothing in a replay knows of it.
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { Slots } from "./slots.ts";

/** Of one report, at most; the others go through the queue, where other workers may take them. As in Temporal's SDKs. */
export const MAX_EAGER_ACTIVITIES = 3;

/** Fields: RespondWorkflowTaskCompletedRequest.commands, Command.schedule_activity_task_command_attributes, and of those attributes. */
const COMMANDS = 2;
const SCHEDULE_ACTIVITY = 2;
const TASK_QUEUE = 4;
const REQUEST_EAGER_EXECUTION = 12;
const EAGER = new BinaryWriter().tag(REQUEST_EAGER_EXECUTION, WireType.Varint).bool(true).finish();

export interface EagerOptions {
  /** The queue that the worker takes activities from. */
  taskQueue: string;
  /** Of activities. */
  slots: Slots;
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

  /** Asks for activities that a report (RespondWorkflowTaskCompletedRequest) schedules, as far as there are slots; undefined: for none. */
  ask(report: Uint8Array): EagerAsk | undefined {
    const { taskQueue, slots, work } = this.#options;
    const reserved: (() => void)[] = [];
    const request = askEagerly(report, taskQueue, () => {
      const release = reserved.length < MAX_EAGER_ACTIVITIES ? slots.tryAcquire() : undefined;
      if (release !== undefined) reserved.push(release);
      return release !== undefined;
    });
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
export function askEagerly(report: Uint8Array, taskQueue: string, wanted: () => boolean): Uint8Array | undefined {
  const reader = new BinaryReader(report);
  let writer: BinaryWriter | undefined;
  let copied = 0;
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [field, type] = reader.tag();
    if (field !== COMMANDS || type !== WireType.LengthDelimited) {
      reader.skip(type, field);
      continue;
    }
    const command = reader.bytes();
    const attributes = findBytes(command, SCHEDULE_ACTIVITY);
    if (attributes === undefined || queueOf(attributes.value) !== taskQueue) continue;
    if (!wanted()) break;
    writer ??= new BinaryWriter();
    writer.raw(report.subarray(copied, start)).tag(COMMANDS, WireType.LengthDelimited).fork()
      .raw(command.subarray(0, attributes.start))
      .tag(SCHEDULE_ACTIVITY, WireType.LengthDelimited).fork().raw(attributes.value).raw(EAGER).join()
      .raw(command.subarray(attributes.end)).join();
    copied = reader.pos;
  }
  return writer?.raw(report.subarray(copied)).finish();
}

function queueOf(attributes: Uint8Array): string {
  const queue = findBytes(attributes, TASK_QUEUE)?.value;
  const name = queue === undefined ? undefined : findBytes(queue, 1)?.value;
  return name === undefined ? "" : new TextDecoder().decode(name);
}

/** The first field of that number in a message, with where it stands; of fields that hold bytes. */
function findBytes(message: Uint8Array, wanted: number): { value: Uint8Array; start: number; end: number } | undefined {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [field, type] = reader.tag();
    if (field === wanted && type === WireType.LengthDelimited) return { value: reader.bytes(), start, end: reader.pos };
    reader.skip(type, field);
  }
  return undefined;
}
