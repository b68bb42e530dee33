// A history without code, as data: the content of a timeline, list or inspector, for a run of any
// SDK.
import type { EventLine } from "../events.ts";
import type { Shown, ShownFailure } from "../values.ts";

/** Kinds of items in a history. */
export type ItemKind =
  | "run"
  | "activity"
  | "localActivity"
  | "timer"
  | "signal"
  | "update"
  | "child"
  | "external"
  | "nexus"
  | "marker"
  | "searchAttributes"
  | "task"
  | "unknown";

/**
 * The status at the end of the history. A timer that fired is "completed", and so are items that
 * only happen, such as signals.
 */
export type ItemStatus =
  | "open"
  | "completed"
  | "failed"
  | "timedOut"
  | "canceled"
  | "terminated"
  | "rejected";

/** An item: an activity with all of its events, a message, a workflow task. */
export interface RunItem {
  /** Counted from 0, in the order in which items began. */
  readonly index: number;
  readonly kind: ItemKind;
  /**
   * Type of the activity or child, name of the signal or update, "timer arrival" or, without a
   * name, "timer 10 s", "version refunds = 2".
   */
  readonly name: string;
  /** ID of the activity, timer, update or child workflow; "" if the kind has no ID. */
  readonly key: string;
  /** IDs of its events, in order. */
  readonly eventIds: readonly number[];
  /** ID of its first event. */
  readonly from: number;
  /** ID of its last event. */
  readonly to: number;
  /** Milliseconds since the epoch. */
  readonly startMs: number | undefined;
  /** Milliseconds since the epoch; undefined while the item is open. */
  readonly endMs: number | undefined;
  /** The status at the end of the history. */
  readonly status: ItemStatus;
  /** The event that closed the item; undefined while it is open. */
  readonly closedBy: number | undefined;
  /** The last attempt that the history names; 0: no attempt. */
  readonly attempt: number;
}

/**
 * An attempt of an activity. History records the last one; times of earlier ones are estimated from
 * the retry policy.
 */
export interface Attempt {
  /** Counted from 1. */
  readonly number: number;
  /** Milliseconds since the epoch; undefined if it cannot be estimated. */
  readonly startMs: number | undefined;
  /** When the attempt ended; undefined while it runs. */
  readonly endMs: number | undefined;
  /** The times are estimated from the retry policy. */
  readonly about: boolean;
  /** Backoff before the attempt, in milliseconds; 0 before the first. */
  readonly backoffMs: number;
  /** Why the attempt failed; undefined if the history does not record it. */
  readonly failure: ShownFailure | undefined;
}

/** A reference to another run. */
export interface RunLink {
  readonly kind:
    | "parent"
    | "root"
    | "continuedFrom"
    | "continuedAs"
    | "child"
    | "retriedAs"
    | "resetFrom";
  /** The other run's workflow ID. */
  readonly workflowId: string;
  /** "" if the history does not record it. */
  readonly runId: string;
  /** Workflow type; "" if the history does not record it. */
  readonly type: string;
  /** The event that contains the reference. */
  readonly eventId: number;
}

/** Facts about the whole run. */
export interface RunFacts {
  readonly type: string;
  readonly id: string;
  /** "" if the history does not contain it. */
  readonly runId: string;
  /**
   * "Running", "Completed", "Failed", "TimedOut", "Cancelled", "Terminated" or "ContinuedAsNew".
   */
  readonly status: string;
  /** Milliseconds since the epoch. */
  readonly startMs: number | undefined;
  /** Time of the last event. */
  readonly endMs: number | undefined;
  /** The task queue of the start. */
  readonly taskQueue: string;
  /** The worker's SDK as it reports itself ("temporal-go 1.28.1"); "" if no task has it. */
  readonly sdk: string;
  /** Workers that completed tasks, in order of appearance. */
  readonly identities: readonly string[];
  /** Builds and deployment versions of those workers. */
  readonly builds: readonly string[];
  /** Attempt of the run by its retry policy or schedule, from 1. */
  readonly attempt: number;
  /** The cron schedule; "" without one. */
  readonly cron: string;
  /** Other runs that the history refers to. */
  readonly links: readonly RunLink[];
}

/** A limit of Temporal servers and the value of this history. */
export interface RunLimit {
  /** What is limited; "payload" is the largest total of one event. */
  readonly name: "events" | "size" | "payload";
  /** The value of the history: a count, or bytes. */
  readonly value: number;
  /** Above it the server terminates the run or rejects the value. */
  readonly most: number;
  /** From this value on the server suggests continue-as-new, or warns. */
  readonly warns: number;
  /** The event of the largest payload; 0 for other limits. */
  readonly eventId: number;
}

/** A finding about the history, as a sentence. */
export interface Finding {
  readonly kind: ItemKind;
  /** Parts between `**` are names or numbers. */
  readonly text: string;
  /** The event to look at. */
  readonly eventId: number;
}

/** Items that a program, or the SDK for a message, marked as a group. */
export interface EventGroup {
  /** Unique within a history. */
  readonly id: string;
  /**
   * The label from the program, or the name of the message; a part of the ID if neither is known or
   * the label cannot be decoded.
   */
  readonly label: string;
  /** "label": created by the program. Others: the message whose handler caused the items. */
  readonly kind: "label" | "signal" | "update" | "run";
  /** The event of that message; 0: no message. */
  readonly eventId: number;
  /** Indices of its items, ascending, including that of the message. */
  readonly items: readonly number[];
}

/** A history as data. */
export interface RunModel {
  /** Facts about the whole run. */
  readonly facts: RunFacts;
  /** All items, in the order in which they began. */
  readonly items: readonly RunItem[];
  /** One line for each event, in order. */
  readonly lines: readonly EventLine[];
  /** The WorkflowTaskStarted events. */
  readonly tasks: readonly EventLine[];
  /** Notable changes that were made to read the file. */
  readonly notes: readonly string[];
  /** The values of the history for each server limit. */
  readonly limits: readonly RunLimit[];
  /**
   * Encodings that only a payload codec decodes ("binary/encrypted"), with their number of
   * payloads.
   */
  readonly encodings: ReadonlyMap<string, number>;
  /** Some events are in groups, see `eventGroups`. */
  readonly hasGroups: boolean;
  /** What deserves attention; how the run ended comes first. */
  readonly findings: readonly Finding[];
  /** The history as bytes of temporal.api.history.v1.History. */
  readonly bytes: Uint8Array;
  /** Returns the item of an event. */
  itemOf(eventId: number): RunItem | undefined;
  /**
   * Returns what is open after events 1..position, oldest first: activities, timers, children,
   * updates, Nexus operations.
   */
  pendingAt(position: number): readonly RunItem[];
  /** Returns the input: arguments, details of a marker. Never throws. */
  inputOf(item: RunItem): readonly Shown[];
  /** Returns the output; undefined without one. */
  outputOf(item: RunItem): Shown | undefined;
  /** Returns the failure; undefined without one. */
  failureOf(item: RunItem): ShownFailure | undefined;
  /** The attempts of an activity. Empty for other items, and until the first attempt has ended. */
  attemptsOf(item: RunItem): readonly Attempt[];
  /** Returns all fields of an event, with decoded payloads. */
  eventOf(eventId: number): unknown;
  /** Returns input and output in one line, "PEN-2 → 1"; the duration of a timer with a name. */
  detailOf(item: RunItem): string;
  /**
   * Returns the indices of items whose name, key, values or failure contain the text.
   * Case-insensitive.
   */
  search(text: string): ReadonlySet<number>;
}
