// A divergence as data: where code and history part, both sides beside each other, what was probably edited, and what repairs it. Plain
// data, so that a page, a report and a line of JSON show the same.

/** What a command or an event of one is, in the words of users. */
export type StepKind =
  | "activity"
  | "localActivity"
  | "timer"
  | "child"
  | "signal"
  | "patch"
  | "sideEffect"
  | "transact"
  | "update"
  | "cancel"
  | "searchAttributes"
  | "memo"
  | "nexus"
  | "marker"
  | "end";

/** One step of one side: a command of the code, or the event that a command became. */
export interface Step {
  readonly kind: StepKind;
  /** Type of the activity or child, name of the signal or update, id of the patch; "" where a kind has none. */
  readonly name: string;
  /** For sentences: `activity chargeCard`, `a timer of 10 s`, `the end of the workflow`. */
  readonly text: string;
  /** Of history: the event; 0 for a command of the code. */
  readonly eventId: number;
  /** Of the code: the user's line, "function (file:line:column)"; "" where it is not known, and for events. */
  readonly site: string;
}

/** A field in which two steps differ that stand beside each other. */
export interface FieldDifference {
  /** In words: "activity type", "input", "duration". */
  readonly field: string;
  /** What history has. */
  readonly history: string;
  /** What the code has. */
  readonly code: string;
  /** The replay compares it. Inputs, durations and options are not compared: they may change. */
  readonly counts: boolean;
}

/** A command whose event has other values, which no replay compares. */
export interface ChangedValue {
  /** The event of the command. */
  readonly eventId: number;
  /** The WorkflowTaskStarted of its task. */
  readonly startedEventId: number;
  /** What history has there: `a timer of 30 d`, `activity charge`. */
  readonly step: string;
  /** The user's line, "function (file:line:column)"; "" where it is not known. */
  readonly site: string;
  /** What differs. */
  readonly differences: readonly FieldDifference[];
  /** The same for people. */
  readonly sentence: string;
}

/** Both sides of one step. */
export interface StepPair {
  /** What history has; undefined where it has no such step. */
  readonly history: Step | undefined;
  /** What the code has; undefined where it has no such step. */
  readonly code: Step | undefined;
  /** The replay takes the one for the other. */
  readonly same: boolean;
  /** Where the two differ. */
  readonly differences: readonly FieldDifference[];
}

/** What code and history say of one workflow task. */
export interface TaskPairs {
  /** From 1. */
  readonly task: number;
  /** Its WorkflowTaskStarted. */
  readonly startedEventId: number;
  /** Both sides, step by step. */
  readonly pairs: readonly StepPair[];
  /** The code was not run for it: the replay had ended. Only the side of history is known. */
  readonly notReplayed: boolean;
}

/** What an edit of the code did. */
export type EditKind =
  | "inserted"
  | "removed"
  | "renamed"
  | "reordered"
  | "changedKind"
  | "changedInput"
  | "endedEarly"
  | "endedLate"
  | "handlerMissing"
  | "patchRenamed"
  | "patchRemoved"
  | "randomShifted"
  | "unknown";

/** What was probably changed in the code since the history was recorded. */
export interface LikelyEdit {
  readonly kind: EditKind;
  /** A sentence: `activity reserveStock was added before activity chargeCard`. */
  readonly text: string;
  /** The step that was added, taken away, renamed or moved, as it is called; "" where it is not known. */
  readonly subject: string;
  /**
   * "verified": with this one edit undone in the history, the rest was replayed and matches. "likely": what follows in history, or in the
   * code, fits. "guess": several edits would look like this.
   */
  readonly confidence: "verified" | "likely" | "guess";
}

/** Lines of a text that others take the place of. */
export interface LineChange {
  /** From 1. */
  readonly first: number;
  /** The last of them; `first - 1` where lines are added and none is taken away. */
  readonly last: number;
  readonly lines: readonly string[];
}

/** What makes open runs replay again. */
export interface Repair {
  /** A name for `patched`; "" where another repair is proposed. */
  readonly patchId: string;
  /** What to do, in a sentence. */
  readonly text: string;
  /** Code to paste, in the user's own lines where their text is known; "" where there is none. */
  readonly code: string;
  /**
   * What puts it into the module of `location`, from the end of the text to its begin. Undefined: the text is not known, or something is to
   * be filled in.
   */
  readonly changes?: readonly LineChange[];
  /** Where: "function (file:line:column)"; "" when not known. */
  readonly location: string;
}

/** Why a history and the code of today part, and where first. */
export interface Divergence {
  /** The workflow task, from 1, counted as people count: those that completed. */
  readonly firstTask: number;
  /** Its WorkflowTaskStarted. */
  readonly startedEventId: number;
  /** The first event that the code does not make; where it makes one step too many, the last event before it that is right. */
  readonly eventId: number;
  /** The user's line, "function (file:line:column)"; "" when not known. */
  readonly location: string;
  /** Whose line it is: "run", "handler of add_item", "branch 2"; "" when not known. */
  readonly fiber: string;
  /** What happened, for people, with names, event and line. */
  readonly sentence: string;
  /** The first pair that differs. */
  readonly first: StepPair;
  /** The task of the first difference with its neighbours. */
  readonly tasks: readonly TaskPairs[];
  /**
   * What the history has after the first difference: the end of the run, further steps, or nothing. An open run continues with the code
   * after a repair, and without further steps nothing proves what an edit replaced.
   */
  readonly following: "end" | "steps" | "nothing";
  /** What was probably edited. */
  readonly edit: LikelyEdit;
  /** What repairs it; undefined where nothing is known. */
  readonly repair: Repair | undefined;
  /** Equal for runs that part from the code in the same way, at the same line. */
  readonly key: string;
}

/** Runs that share a difference. */
export interface SharedDivergence<Run> {
  /** That of the difference. */
  readonly key: string;
  /** Of the first of them. */
  readonly divergence: Divergence;
  /** The runs. */
  readonly runs: readonly Run[];
}
