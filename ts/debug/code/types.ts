// What a session knows of each line of the user's code: plain data, exact at every position (the id of an event). A session has it
// where its realm was made with `lines: true`. The code moves in workflow tasks alone, so that everything here changes only at the
// event at which a task runs (its WorkflowTaskStarted); all positions until the next such event show the same.

/** A line of the user's code. */
export interface Place {
  /** Index in `SessionCode.files`. */
  readonly file: number;
  /** From 1, in the text that the user wrote. */
  readonly line: number;
}

/** A module of the user's code. Packages are not followed. */
export interface CodeFile {
  /** Its index in `SessionCode.files`. */
  readonly index: number;
  /** As frames of stacks name it. */
  readonly url: string;
  /** For people, and for finding the text: a path, or the key of `sources`. Of a bundle with a source map: the original's. */
  readonly name: string;
  /** Lines that a statement begins on: those that can run, ascending. */
  readonly executable: readonly number[];
}

/** How often the lines of a file have run. Both arrays are indexed by line number (index 0 is not used). Do not change them. */
export interface LineCounts {
  /** Up to the position. */
  readonly hits: Readonly<Uint32Array>;
  /** In the task at the position alone. */
  readonly inTask: Readonly<Uint32Array>;
}

/** What a fiber is: the run function, a handler of a message, an async handler, a branch of parallel, an arm of select, a shield. */
export type FiberKind = "run" | "handler" | "async" | "branch" | "arm" | "shield";

/** One logical thread of the user's code, from its beginning to its end: a lane. */
export interface FiberLane {
  /** Index in `SessionCode.fibers`. */
  readonly id: number;
  readonly kind: FiberKind;
  /** One name for each kind, without the run's type: `run`, `handler of add_item`, `branch 2`, `arm 1`, `shield`. */
  readonly name: string;
  /** As error messages have it: `handler of update "add_item"`. */
  readonly label: string;
  /** The fiber that it belongs to; undefined for those of the run itself. */
  readonly parent: number | undefined;
  /** The event of the task in which it began. */
  readonly from: number;
  /** The event of the task in which it ended; undefined: it has not. */
  readonly to: number | undefined;
  /** The message (its event) that it was begun for. */
  readonly cause: number | undefined;
}

/** An event that woke a fiber: an arrow from one to the other. */
export interface Cause {
  /** The event that the code was told of: TimerFired, ActivityTaskCompleted, a signal, ... */
  readonly eventId: number;
  /** The fiber that went on; undefined: not known. */
  readonly fiber: number | undefined;
  /** The event of the task in which it did. */
  readonly taskEventId: number;
  /** The line of the await that was over; undefined where the fiber began then. */
  readonly place: Place | undefined;
}

/** A value of workflow code as a copy. Never the code's own object. */
export interface CopiedValue {
  /**
   * Plain data. What JSON has no form for is text in angle brackets: `<undefined>`, `<function charge>`, `<getter>`, `<Promise>`,
   * `<circular>`; of class instances, maps and sets, `{"<Map 2>": [...]}`. Where it was cut, `<3 more>` stands for the rest.
   */
  readonly value: unknown;
  /** The same as JSON text, about 4 KB at most. */
  readonly text: string;
  /** Something was left out. */
  readonly cut: boolean;
}

/** What kind of value crossed at a line. */
export type CrossingKind =
  /** A local variable, as it was at an await or a call of the workflow API on that line. */
  | "local"
  /** What an await gave: the result of an activity, of a child, ... */
  | "result"
  /** Arguments of an activity, a child or a signal that was sent. */
  | "arguments"
  /** What a signal or an update brought, at the line where its handler begins. */
  | "message"
  /** What an update was answered. */
  | "answer"
  /** What was given to publishState. */
  | "published"
  /** The state of a receive. */
  | "accumulator"
  /** A line of the log. */
  | "log"
  /** What an await was rejected with. */
  | "failure"
  /** The workflow's time, which the guard gave for the clock: of `Date.now()`, the name. Milliseconds since the epoch. */
  | "clock"
  /** What the guard gave of the run's generator: of `Math.random()`, `crypto.randomUUID()`. */
  | "random"
  /** A call that the guard refused: its name, and the advice as value. */
  | "refused";

/** The last value that crossed at a line, up to a position. */
export interface Crossing {
  /** The line. */
  readonly place: Place;
  readonly kind: CrossingKind;
  /** Name of the variable, activity, message; "" where it has none. */
  readonly name: string;
  /** The value, as a copy. */
  readonly value: CopiedValue;
  /** What it was before in the same place, where that was something else. */
  readonly before: CopiedValue | undefined;
  /** The fiber that had it. */
  readonly fiber: number | undefined;
  /** The event of the task in which it crossed. */
  readonly taskEventId: number;
  /** It crossed in the task at the position: it is what is new. */
  readonly isNew: boolean;
}

/** An await at which the code stands. */
export interface Parked {
  /** Index in `SessionCode.fibers`. */
  readonly fiber: number | undefined;
  /** Name of the fiber: `handler of add_item`. */
  readonly fiberName: string;
  /** The line of the await; undefined: not the user's, or not known. */
  readonly place: Place | undefined;
  /** What it waits for, as `OpenAwait.kind`; "other" for an await of a promise of the user's own (Promise.all, an async function). */
  readonly kind: string;
  /** For people: `activity "charge"`. */
  readonly label: string;
  /** Another await of the fiber stands inside of it: it called the function in which the fiber waits. */
  readonly isOuter: boolean;
  /** The event of its command, where it has one. */
  readonly eventId: number | undefined;
  /** The event of the task since which it stands there. */
  readonly since: number;
  /** The time of that task, milliseconds since the epoch. */
  readonly sinceMs: number;
  /** Of a timer: when it is due. */
  readonly firesAtMs: number | undefined;
  /** An event that has happened already and ends it in the next task. */
  readonly endedBy: number | undefined;
  /** What would wake it, for people: `the result of activity "charge"`, `update add_item or signal pay`. */
  readonly wokenBy: string;
}

/** What `changes` follows: the published state, the state of receives, or a variable by its name (in whatever fiber it is). */
export type StateOf = "published" | "accumulator" | { readonly variable: string };

/** A change of a value at a path. */
export interface StateChange {
  /** The event of the task that published it. */
  readonly taskEventId: number;
  /** The line of publishState, or of the receive whose state it is. */
  readonly place: Place | undefined;
  /** The fiber that changed it. */
  readonly fiber: number | undefined;
  /** Value at the path before; undefined: there was none. */
  readonly before: unknown;
  /** The value at the path afterwards. */
  readonly after: unknown;
}

/** A command with its line. */
export interface PlacedCommand {
  /** "ScheduleActivity", "StartTimer", ... */
  readonly kind: string;
  /** For people. */
  readonly summary: string;
  /** The line that issued it. */
  readonly place: Place | undefined;
  /** The event of the task that issued it. */
  readonly taskEventId: number;
  /** The event that it became. */
  readonly eventId: number | undefined;
}

/** A line of the log, with the line of code that wrote it. */
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

/** One run of a line, as a log point sees it. */
export interface LogPointValue {
  /** The event of the task in which it ran. */
  readonly taskEventId: number;
  /** The fiber that ran it. */
  readonly fiber: number | undefined;
  /** What the expression gave over the recorded variables; undefined where it failed. */
  readonly value: unknown;
  /** Why it has none: `"total" is not known here`. */
  readonly error: string | undefined;
}

/** Where `findNext` stops: all that is named must hold. */
export interface Condition {
  /** The line ran in the task at the event. */
  readonly place?: Place;
  /** The event's type: "TimerFired". */
  readonly eventType?: string;
  /** Part of the event's summary: a name. */
  readonly text?: string;
  /** The task at the event issued such a command: "ScheduleActivity". */
  readonly command?: string;
  /**
   * Over the published state (`state`), variables of the code (by name, as they were last seen), and `event`: an expression such as
   * `state.items.length > 3`, or a function. It stops where it becomes true: at the first position after one where it was not.
   */
  readonly when?: string | ((scope: ConditionScope) => boolean);
}

/** What a predicate may read. */
export interface ConditionScope {
  /** The published state. */
  readonly state: unknown;
  /** Variables of the code by name, as they were last seen. */
  readonly variables: { readonly [name: string]: unknown };
  /** The event at the position. */
  readonly event: { readonly eventId: number; readonly type: string; readonly summary: string };
  /** Id of that event. */
  readonly position: number;
}

/** Where `findNext` looks. */
export type Direction = "forward" | "back";

/** Why the run waits where it stands, made from data. */
export interface Why {
  /** One sentence: `run waits at line 70 for activity "charge", since event 12.` */
  readonly sentence: string;
  /** What would wake it: one for each parked await. */
  readonly parked: readonly Parked[];
  /** What is legal to send now. */
  readonly takes: { readonly signals: readonly string[]; readonly updates: readonly string[]; readonly anySignal: boolean };
  /** The next thing of history that the code will be told of; undefined: nothing follows. */
  readonly next: { readonly eventId: number; readonly type: string; readonly summary: string } | undefined;
}
