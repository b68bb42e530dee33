// The changes that a branch makes to a recorded run. Edits are plain data and can be stored, sent
// and undone. They refer to events by their IDs in the recorded history.

/** Values as workflow code gets them; the branch's converter encodes them. */
export type Values = readonly unknown[];

/** A message to a run. */
export type Message =
  | { readonly kind: "signal"; readonly name: string; readonly args: Values }
  | { readonly kind: "update"; readonly name: string; readonly args: Values; readonly id?: string }
  | { readonly kind: "cancel"; readonly reason?: string }
  | { readonly kind: "terminate"; readonly reason?: string };

/** The failure of an activity or a child. */
export interface FailureToTell {
  /** The message that workflow code sees. */
  readonly message: string;
  /** Default: "Error". */
  readonly type?: string;
  /** False: the retry policy of the activity decides about a retry. Default: true. */
  readonly nonRetryable?: boolean;
}

/** The end of an activity or a child. */
export type End =
  | { readonly kind: "completed"; readonly result?: unknown }
  | { readonly kind: "failed"; readonly failure: FailureToTell }
  /** For activities: each attempt times out; the retry policy decides their number. */
  | { readonly kind: "timed out" }
  | { readonly kind: "cancelled" }
  /** For children. */
  | { readonly kind: "terminated" }
  /** The activity or child never ends. */
  | { readonly kind: "never" };

/** One change. `eventId` refers to an event of the recorded history. */
export type Edit =
  /** Changes the arguments of the start. */
  | { readonly kind: "input"; readonly args: Values }
  /**
   * Changes the arguments of a signal or an update. For an update, the event is its
   * WorkflowExecutionUpdateAccepted.
   */
  | { readonly kind: "payload"; readonly eventId: number; readonly args: Values }
  /** Removes a signal, update, cancel request or termination. */
  | { readonly kind: "drop"; readonly eventId: number }
  /** Replaces a message. */
  | { readonly kind: "replace"; readonly eventId: number; readonly message: Message }
  /** Inserts a message `afterMs` after an event (default 0). */
  | {
    readonly kind: "insert";
    readonly after: number;
    readonly message: Message;
    readonly afterMs?: number;
  }
  /** Repeats a message after itself. */
  | { readonly kind: "duplicate"; readonly eventId: number; readonly afterMs?: number }
  /** Moves a message after another event. */
  | { readonly kind: "move"; readonly eventId: number; readonly after: number }
  /**
   * Changes the end of an activity, identified by its ActivityTaskScheduled; `afterMs` after that
   * event (default: as recorded, otherwise 0).
   */
  | {
    readonly kind: "activity";
    readonly eventId: number;
    readonly end: End;
    readonly afterMs?: number;
  }
  /** Changes the end of a child, identified by its StartChildWorkflowExecutionInitiated. */
  | {
    readonly kind: "child";
    readonly eventId: number;
    readonly end: End;
    readonly afterMs?: number;
  }
  /**
   * Changes the result or error of a reducer, identified by its MarkerRecorded; for branches
   * without tables.
   */
  | { readonly kind: "transact"; readonly eventId: number; readonly end: End }
  /** Changes the duration of a timer, identified by its TimerStarted. */
  | { readonly kind: "timer"; readonly eventId: number; readonly afterMs: number }
  /** Sets a result that the history does not have; `key` is that of a {@link Question}. */
  | { readonly kind: "answer"; readonly key: string; readonly end: End; readonly afterMs?: number };

/** The branch needs a result that the history does not have. */
export interface Question {
  /**
   * Identifies the question in an "answer" edit: "activity refund 1" is the first activity of that
   * type without a result.
   */
  readonly key: string;
  /** The kind of call. */
  readonly of: "activity" | "local activity" | "child" | "transact";
  /** Type of the call; for a reducer, its name. */
  readonly type: string;
  /** Decoded arguments. */
  readonly args: Values;
  /** The event of the branch that scheduled the call; 0 for local activities and reducers. */
  readonly eventId: number;
}

/** An edit does not match the history; the message states the reason. */
export class EditError extends Error {
  override name = "EditError";
}
