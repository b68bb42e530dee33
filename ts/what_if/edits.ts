// What a branch changes of a recorded run. Edits are plain data, so a branch can be kept, sent and undone; events are named by their ids in
// the history that was recorded, whatever the branch makes of them.

/** Values as workflow code sees them; the branch's converter makes payloads of them. */
export type Values = readonly unknown[];

/** What is sent to a run. */
export type Message =
  | { readonly kind: "signal"; readonly name: string; readonly args: Values }
  | { readonly kind: "update"; readonly name: string; readonly args: Values; readonly id?: string }
  | { readonly kind: "cancel"; readonly reason?: string }
  | { readonly kind: "terminate"; readonly reason?: string };

/** A failure that an activity or a child ends with. */
export interface FailureToTell {
  /** What it says. */
  readonly message: string;
  /** Default: "Error". */
  readonly type?: string;
  /** False: an activity's retry policy decides whether it is tried again. Default: true. */
  readonly nonRetryable?: boolean;
}

/** How an activity or a child ends. */
export type End =
  | { readonly kind: "completed"; readonly result?: unknown }
  | { readonly kind: "failed"; readonly failure: FailureToTell }
  /** Of activities: each attempt runs into its timeout; the retry policy decides how many there are. */
  | { readonly kind: "timed out" }
  | { readonly kind: "cancelled" }
  /** Of children. */
  | { readonly kind: "terminated" }
  /** It is not answered at all. */
  | { readonly kind: "never" };

/** One change. `eventId` is an event of the recorded history. */
export type Edit =
  /** Arguments of the start. */
  | { readonly kind: "input"; readonly args: Values }
  /** Other arguments of a signal or an update. Of an update, the event is its WorkflowExecutionUpdateAccepted. */
  | { readonly kind: "payload"; readonly eventId: number; readonly args: Values }
  /** A signal, update, request to cancel or termination that was not sent. */
  | { readonly kind: "drop"; readonly eventId: number }
  /** Another message in the place of one. */
  | { readonly kind: "replace"; readonly eventId: number; readonly message: Message }
  /** A message behind an event; `afterMs` later than it (default 0). */
  | { readonly kind: "insert"; readonly after: number; readonly message: Message; readonly afterMs?: number }
  /** A message once more, behind itself. */
  | { readonly kind: "duplicate"; readonly eventId: number; readonly afterMs?: number }
  /** A message that came elsewhere: behind another event. */
  | { readonly kind: "move"; readonly eventId: number; readonly after: number }
  /** Another end of an activity, named by its ActivityTaskScheduled; `afterMs` behind it (default: as recorded, else 0). */
  | { readonly kind: "activity"; readonly eventId: number; readonly end: End; readonly afterMs?: number }
  /** Another end of a child, named by its StartChildWorkflowExecutionInitiated. */
  | { readonly kind: "child"; readonly eventId: number; readonly end: End; readonly afterMs?: number }
  /** Another result of a reducer, or what it threw, named by its MarkerRecorded; for branches without tables. */
  | { readonly kind: "transact"; readonly eventId: number; readonly end: End }
  /** A timer, named by its TimerStarted, that fires so long after it was started. */
  | { readonly kind: "timer"; readonly eventId: number; readonly afterMs: number }
  /** An answer by hand for what history has no answer to; `key` is that of a question ({@link Question}). */
  | { readonly kind: "answer"; readonly key: string; readonly end: End; readonly afterMs?: number };

/** The branch came to something that history has no answer for. */
export interface Question {
  /** Names it in an "answer" edit: "activity refund 1" is the first activity of that type that has none. */
  readonly key: string;
  /** What is answered. */
  readonly of: "activity" | "local activity" | "child" | "transact";
  /** Its type; of a reducer, its name. */
  readonly type: string;
  /** Decoded arguments. */
  readonly args: Values;
  /** The event of the branch that scheduled it; 0 for a local activity and a reducer. */
  readonly eventId: number;
}

/** An edit that does not fit the history; the message says why. */
export class EditError extends Error {
  override name = "EditError";
}
