// Data of a session about each line of user code, for every position (the id of an event).
// Available if the realm was made with `lines: true`. Code runs only in workflow tasks, so this
// data changes at their WorkflowTaskStarted events and is the same at all positions up to the next
// one.

/** A line of the user's code. */
export interface Place {
  /** Index in `SessionCode.files`. */
  readonly file: number;
  /** From 1, in the text that the user wrote. */
  readonly line: number;
}

/** A module of the user's code. Packages are not included. */
export interface CodeFile {
  /** Its index in `SessionCode.files`. */
  readonly index: number;
  /** As in stack frames. */
  readonly url: string;
  /**
   * A path or the key in `sources`, for display and for finding the text. In a bundle with a source
   * map: the original's.
   */
  readonly name: string;
  /** Lines on which a statement begins, ascending. */
  readonly executable: readonly number[];
}

/**
 * How often the lines of a file have run. Both arrays are indexed by line number (index 0 is
 * unused). Do not change them.
 */
export interface LineCounts {
  /** Up to the position. */
  readonly hits: Readonly<Uint32Array>;
  /** In the task at the position only. */
  readonly inTask: Readonly<Uint32Array>;
}

/**
 * Kind of a fiber: the run function, a handler of a message, an async handler, a branch of
 * parallel, an arm of select, a shield.
 */
export type FiberKind = "run" | "handler" | "async" | "branch" | "arm" | "shield";

/** One logical thread of the user's code, from its beginning to its end. */
export interface FiberLane {
  /** Index in `SessionCode.fibers`. */
  readonly id: number;
  readonly kind: FiberKind;
  /**
   * Short name without the workflow type: `run`, `handler of add_item`, `branch 2`, `arm 1`,
   * `shield`.
   */
  readonly name: string;
  /** As in error messages: `handler of update "add_item"`. */
  readonly label: string;
  /** The enclosing fiber; undefined for those of the run itself. */
  readonly parent: number | undefined;
  /** The event of the task in which it began. */
  readonly from: number;
  /** The event of the task in which it ended; undefined while it runs. */
  readonly to: number | undefined;
  /** The event of the message for which it began. */
  readonly cause: number | undefined;
}

/** An event that woke a fiber. */
export interface Cause {
  /** The event: TimerFired, ActivityTaskCompleted, a signal, ... */
  readonly eventId: number;
  /** The fiber that continued; undefined if unknown. */
  readonly fiber: number | undefined;
  /** The event of the task in which it continued. */
  readonly taskEventId: number;
  /** The line of the await that ended; undefined if the fiber began. */
  readonly place: Place | undefined;
}

/** A copy of a value of workflow code, never the code's own object. */
export interface CopiedValue {
  /**
   * Plain data. Values without a JSON form are text in angle brackets: `<undefined>`, `<function
   * charge>`, `<getter>`, `<Promise>`, `<circular>`; class instances, maps and sets are `{"<Map
   * 2>": [...]}`. `<3 more>` marks a cut.
   */
  readonly value: unknown;
  /** The same as JSON text, at most about 4 KB. */
  readonly text: string;
  /** Part of the value was cut. */
  readonly cut: boolean;
}

/** Kind of a recorded value. */
export type CrossingKind =
  /** A local variable, as it was at an await or a call of the workflow API on that line. */
  | "local"
  /** The value of an await: the result of an activity, of a child, ... */
  | "result"
  /** Arguments of an activity, a child or a signal that was sent. */
  | "arguments"
  /** Arguments of a signal or an update, at the line where its handler begins. */
  | "message"
  /** The result of an update. */
  | "answer"
  /** The argument of publishState. */
  | "published"
  /** The state of a receive. */
  | "accumulator"
  /** A log line. */
  | "log"
  /** The error of an await. */
  | "failure"
  /**
   * Workflow time that the guard returned for a clock (its name: `Date.now()`), in milliseconds
   * since the epoch.
   */
  | "clock"
  /**
   * Random numbers of the run that the guard returned for `Math.random()` or `crypto.randomUUID()`.
   */
  | "random"
  /** A call that the guard rejected: its name, and the advice as value. */
  | "refused"
  /** An operand of a test, such as the condition of an `if`; its name is the source text. */
  | "operand";

/** The last evaluation of a test that decides which branch runs, up to a position. */
export interface BranchTest {
  /** The line of the test. */
  readonly place: Place;
  /** From 1, in the text without types. */
  readonly column: number;
  /** "if", "while", "for", "?:", "switch", "&&", "||", "??" or "condition". */
  readonly kind: string;
  /** Source text of the test, at most 120 characters. */
  readonly text: string;
  readonly isTrue: boolean;
  /** The value of the test; undefined if it was not copied. */
  readonly value: CopiedValue | undefined;
  /** Operands in order. `value`: undefined if the operand was not evaluated or not copied. */
  readonly operands: readonly {
    readonly text: string;
    readonly value: CopiedValue | undefined;
  }[];
  /** The fiber that evaluated it; undefined for predicates. */
  readonly fiber: number | undefined;
  /** The event of the task in which it was evaluated. */
  readonly taskEventId: number;
  /** True if it was evaluated in the task at the position. */
  readonly isNew: boolean;
}

/** The predicate of an open `condition`, which was false at its last evaluation. */
export interface ConditionFacts {
  /** The line of the `condition` call. */
  readonly place: Place;
  /** The fiber that waits, as in `OpenAwait.fiber`. */
  readonly fiber: string;
  /** The predicate's last evaluation, with its operands. */
  readonly test: BranchTest;
  /** Signals whose handlers left the values of all operands as they were. */
  readonly unchangedBy: readonly { readonly name: string; readonly eventId: number }[];
  /** The variables that the predicate reads; undefined if it may read other things. */
  readonly variables: readonly string[] | undefined;
  /**
   * The handlers that are set and can change what the predicate reads. Handlers that cannot be
   * examined are included; undefined if the condition cannot.
   */
  readonly changedBy: readonly ConditionHandler[] | undefined;
}

/** A handler that can change the predicate of a `condition`. */
export interface ConditionHandler {
  readonly kind: "signal" | "update";
  /** Name of the signal or update that the handler receives. */
  readonly name: string;
  /** The variables of the predicate that it writes; empty if that is unknown. */
  readonly variables: readonly string[];
  /** The line of the first write. */
  readonly place: Place | undefined;
  /** The handler ends another wait, and the code after that wait writes the variables. */
  readonly isIndirect: boolean;
}

/** The latest value recorded at a line, up to a position. */
export interface Crossing {
  /** The line. */
  readonly place: Place;
  readonly kind: CrossingKind;
  /** Name of the variable, activity or message; "" without a name. */
  readonly name: string;
  /** The value, as a copy. */
  readonly value: CopiedValue;
  /** The previous, different value at the same place; undefined for the first value. */
  readonly before: CopiedValue | undefined;
  /** The fiber in which it was recorded. */
  readonly fiber: number | undefined;
  /** The event of the task in which it was recorded. */
  readonly taskEventId: number;
  /** True if it was recorded in the task at the position. */
  readonly isNew: boolean;
}

/** An open await. */
export interface Parked {
  /** Index in `SessionCode.fibers`. */
  readonly fiber: number | undefined;
  /** Name of the fiber: `handler of add_item`. */
  readonly fiberName: string;
  /** The line of the await; undefined if unknown or outside of user code. */
  readonly place: Place | undefined;
  /**
   * As `OpenAwait.kind`; "other" for an await of a user promise (Promise.all, an async function).
   */
  readonly kind: string;
  /** For display: `activity "charge"`. */
  readonly label: string;
  /** True if another open await of the fiber is nested: in a function that this line called. */
  readonly isOuter: boolean;
  /** The event of its command, if there is one. */
  readonly eventId: number | undefined;
  /** The event of the task in which the wait began. */
  readonly since: number;
  /** The time of that task, milliseconds since the epoch. */
  readonly sinceMs: number;
  /** For a timer: when it is due. */
  readonly firesAtMs: number | undefined;
  /** An event that has already happened and ends the wait in the next task. */
  readonly endedBy: number | undefined;
  /**
   * What would wake it, for display: `the result of activity "charge"`, `update add_item or signal
   * pay`.
   */
  readonly wokenBy: string;
}

/**
 * What `changes` follows: the published state, the state of receives, or a variable by its name, in
 * any fiber.
 */
export type StateOf = "published" | "accumulator" | { readonly variable: string };

/** A change of a value at a path. */
export interface StateChange {
  /** The event of the task that published it. */
  readonly taskEventId: number;
  /** The line of publishState, or of the receive whose state changed. */
  readonly place: Place | undefined;
  readonly fiber: number | undefined;
  /** Value at the path before the change; undefined for the first value. */
  readonly before: unknown;
  /** The value at the path afterwards. */
  readonly after: unknown;
}

/** A command with its line. */
export interface PlacedCommand {
  /** "ScheduleActivity", "StartTimer", ... */
  readonly kind: string;
  /** For display. */
  readonly summary: string;
  /** The line that issued it. */
  readonly place: Place | undefined;
  /** The event of the task that issued it. */
  readonly taskEventId: number;
  /** Id of its event in history. */
  readonly eventId: number | undefined;
}

/** A log line, with the line of code that wrote it. */
export interface PlacedLog {
  /** As it was logged. */
  readonly level: "debug" | "info" | "warn" | "error";
  /** The text. */
  readonly message: string;
  /** The line that logged it. */
  readonly place: Place | undefined;
  /** The fiber that logged it. */
  readonly fiber: number | undefined;
  /** The event of the task in which it was logged. */
  readonly taskEventId: number;
}

/** One execution of a line, as seen by a logpoint. */
export interface LogPointValue {
  /** The event of the task in which it ran. */
  readonly taskEventId: number;
  /** The fiber that ran it. */
  readonly fiber: number | undefined;
  /** The value of the expression over the recorded variables; undefined if it failed. */
  readonly value: unknown;
  /** Why it failed: `"total" is not known here`. */
  readonly error: string | undefined;
}

/** Where `findNext` stops: all given parts must hold. */
export interface Condition {
  /** The line ran in the task at the event. */
  readonly place?: Place;
  /** The event's type: "TimerFired". */
  readonly eventType?: string;
  /** Text in the event's summary, such as a name. */
  readonly text?: string;
  /** Kind of a command that the task at the event issued: "ScheduleActivity". */
  readonly command?: string;
  /**
   * A predicate over the published state (`state`), variables by name with their latest values, and
   * `event`: an expression such as `state.items.length > 3`, or a function. The search stops at the
   * first position where it becomes true.
   */
  readonly when?: string | ((scope: ConditionScope) => boolean);
}

/** What a predicate can read. */
export interface ConditionScope {
  /** The published state. */
  readonly state: unknown;
  /** Variables of the code by name, with their latest values. */
  readonly variables: { readonly [name: string]: unknown };
  /** The event at the position. */
  readonly event: { readonly eventId: number; readonly type: string; readonly summary: string };
  /** Id of that event. */
  readonly position: number;
}

/** Direction of a `findNext` search. */
export type Direction = "forward" | "back";

/** Why the run waits, derived from data. */
export interface Why {
  /** One sentence: `run waits at line 70 for activity "charge", since event 12.` */
  readonly sentence: string;
  /** What would wake it: one entry for each open await. */
  readonly parked: readonly Parked[];
  /** Messages that the workflow accepts now. */
  readonly takes: {
    readonly signals: readonly string[];
    readonly updates: readonly string[];
    readonly anySignal: boolean;
  };
  /** The next event of history for the code; undefined at the end. */
  readonly next:
    | { readonly eventId: number; readonly type: string; readonly summary: string }
    | undefined;
}
