// A history without code, as data: what a timeline, a list and an inspector show of a run of any SDK.
import type { EventLine } from "../events.ts";
import type { Shown, ShownFailure } from "../values.ts";

/** Kinds of things in a history. */
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

/** How a thing stands at the end of the history. A timer that fired is "completed"; so is what only happens, a signal for one. */
export type ItemStatus = "open" | "completed" | "failed" | "timedOut" | "canceled" | "terminated" | "rejected";

/** One thing: an activity with all of its events, a message, a workflow task. */
export interface RunItem {
  /** From 0, in the order in which things began. */
  readonly index: number;
  /** What it is. */
  readonly kind: ItemKind;
  /** Type of the activity or child, name of the signal or update, "timer arrival" or, without a name, "timer 10 s", "version refunds = 2". */
  readonly name: string;
  /** Id of the activity, timer, update or child workflow; "" where the kind has none. */
  readonly key: string;
  /** Ids of its events, in order. */
  readonly eventIds: readonly number[];
  /** Id of its first event. */
  readonly from: number;
  /** Id of its last event. */
  readonly to: number;
  /** Milliseconds since the epoch. */
  readonly startMs: number | undefined;
  /** Milliseconds since the epoch; undefined while it is open. */
  readonly endMs: number | undefined;
  /** How it stands at the end of the history. */
  readonly status: ItemStatus;
  /** The event that closed it; undefined while it is open. */
  readonly closedBy: number | undefined;
  /** The last attempt that history names; 0 where it names none. */
  readonly attempt: number;
}

/** A try of an activity. History keeps the last one; earlier ones are placed by the retry policy. */
export interface Attempt {
  /** From 1. */
  readonly number: number;
  /** Milliseconds since the epoch; undefined where even a guess is not possible. */
  readonly startMs: number | undefined;
  /** When it ended; undefined while it runs. */
  readonly endMs: number | undefined;
  /** The times are derived from the retry policy. */
  readonly about: boolean;
  /** Wait before it, in milliseconds; 0 before the first. */
  readonly backoffMs: number;
  /** Why it failed; undefined where history does not say. */
  readonly failure: ShownFailure | undefined;
}

/** Another run that this one names. */
export interface RunLink {
  readonly kind: "parent" | "root" | "continuedFrom" | "continuedAs" | "child" | "retriedAs" | "resetFrom";
  /** Id of its workflow. */
  readonly workflowId: string;
  /** Id of the run; "" where history does not say. */
  readonly runId: string;
  /** Its type; "" where history does not say. */
  readonly type: string;
  /** The event that names it. */
  readonly eventId: number;
}

/** What is known of the run as a whole. */
export interface RunFacts {
  /** Type of the workflow. */
  readonly type: string;
  /** Id of the workflow. */
  readonly id: string;
  /** Id of the run. */
  readonly runId: string;
  /** "Running", "Completed", "Failed", "TimedOut", "Cancelled", "Terminated" or "ContinuedAsNew". */
  readonly status: string;
  /** Milliseconds since the epoch. */
  readonly startMs: number | undefined;
  /** Of the last event. */
  readonly endMs: number | undefined;
  /** The task queue that it was started on. */
  readonly taskQueue: string;
  /** Of the worker's SDK, as it names itself ("temporal-go 1.28.1"); "" where no task says. */
  readonly sdk: string;
  /** Workers that completed tasks, in order of appearance. */
  readonly identities: readonly string[];
  /** Builds and deployment versions of those workers. */
  readonly builds: readonly string[];
  /** Of the run by its own retry policy or schedule, from 1. */
  readonly attempt: number;
  /** Its cron schedule; "" for none. */
  readonly cron: string;
  /** Other runs that it names. */
  readonly links: readonly RunLink[];
}

/** A limit of Temporal's servers, and where this history stands. */
export interface RunLimit {
  /** What is limited. */
  readonly name: "events" | "size" | "payload";
  /** Where the history stands: a count, or bytes. */
  readonly value: number;
  /** The server ends the run, or refuses the value, above it. */
  readonly most: number;
  /** From here on the server suggests to continue as new, or warns. */
  readonly warns: number;
  /** The event of the largest payload; 0 for the others. */
  readonly eventId: number;
}

/** Something that the history alone tells, as a sentence. */
export interface Finding {
  readonly kind: ItemKind;
  /** Parts in `**` are names or figures. */
  readonly text: string;
  /** Where to look. */
  readonly eventId: number;
}

/** Things that a program, or the SDK for a message, has marked as belonging together. */
export interface EventGroup {
  /** Tells groups of a history apart. */
  readonly id: string;
  /** What the program calls it, or the name of the message; a part of the id where neither is known, or the label cannot be read. */
  readonly label: string;
  /** "label": the program made it. Of others: the message whose handler did these things. */
  readonly kind: "label" | "signal" | "update" | "run";
  /** The event of that message; 0 for none. */
  readonly eventId: number;
  /** Indices of its things, ascending; that of the message is among them. */
  readonly items: readonly number[];
}

/** A history, as data. */
export interface RunModel {
  /** What is known of the run as a whole. */
  readonly facts: RunFacts;
  /** All things, in the order in which they began. */
  readonly items: readonly RunItem[];
  /** All events. */
  readonly lines: readonly EventLine[];
  /** The WorkflowTaskStarted events. */
  readonly tasks: readonly EventLine[];
  /** What was done to the file that is worth knowing. */
  readonly notes: readonly string[];
  /** How near it is to the limits of a server. */
  readonly limits: readonly RunLimit[];
  /** Encodings that only a payload codec reads ("binary/encrypted"), with how many payloads have each; empty where none has. */
  readonly encodings: ReadonlyMap<string, number>;
  /** Some events are in groups: `eventGroups` has them. */
  readonly hasGroups: boolean;
  /** What it tells by itself. */
  readonly findings: readonly Finding[];
  /** The history as bytes of temporal.api.history.v1.History. */
  readonly bytes: Uint8Array;
  /** The thing that an event belongs to. */
  itemOf(eventId: number): RunItem | undefined;
  /** What is open once events 1..position have happened, oldest first: activities, timers, children, updates, nexus operations. */
  pendingAt(position: number): readonly RunItem[];
  /** What went in: arguments, a marker's details. Never throws. */
  inputOf(item: RunItem): readonly Shown[];
  /** What came out; undefined where nothing did. */
  outputOf(item: RunItem): Shown | undefined;
  /** Why it failed; undefined where it did not. */
  failureOf(item: RunItem): ShownFailure | undefined;
  /** The attempts of an activity. Empty for other items, and until the first attempt has ended. */
  attemptsOf(item: RunItem): readonly Attempt[];
  /** All that an event says, payloads decoded. */
  eventOf(eventId: number): unknown;
  /** "PEN-2 → 1": what went in and came out, in one line; of a timer with a name its duration. */
  detailOf(item: RunItem): string;
  /** Indices of the items whose name, key, values or failure hold the text, whatever its case. */
  search(text: string): ReadonlySet<number>;
}
