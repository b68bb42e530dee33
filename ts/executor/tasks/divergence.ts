// A divergence as data: where code and history differ, both sides, the likely edit, and its repair.
// Plain data, so that the page, the report and JSON lines show the same.

/** Kind of a command or of its event, in API terms. */
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
  /**
   * Type of the activity or child, name of the signal or update, id of the patch; "" if the kind
   * has none.
   */
  readonly name: string;
  /** For sentences: `activity chargeCard`, `a timer of 10 s`, `the end of the workflow`. */
  readonly text: string;
  /** Id of the event; 0 for a command of the code. */
  readonly eventId: number;
  /** The user's line, "function (file:line:column)"; "" if unknown, and for events. */
  readonly site: string;
}

/** A field in which two paired steps differ. */
export interface FieldDifference {
  /** In words: "activity type", "input", "duration". */
  readonly field: string;
  readonly history: string;
  readonly code: string;
  /** Replay compares it. Inputs, durations and options are not compared: they may change. */
  readonly counts: boolean;
}

/** A field of a command that has another value in the code than in the history. */
export interface ValueDifference extends FieldDifference {
  /** Path of the value in a {@link ValueRule}: "input[0].amount", "options.taskQueue". */
  readonly path: string;
}

/** A command as a {@link ValueRule} names it. */
export type ValueCommand =
  | "activity"
  | "timer"
  | "child"
  | "signal"
  | "nexus"
  | "transact"
  | "update"
  | "searchAttributes"
  | "memo"
  | "complete"
  | "fail"
  | "continueAsNew";

/** Leaves values out of the comparison with a history. Fields that are absent match everything. */
export interface ValueRule {
  /** Name for messages about the rule. */
  readonly name?: string;
  /** Workflow type of the run; `*` matches any text. */
  readonly workflow?: string;
  /** Kind of the command. */
  readonly command?: ValueCommand;
  /**
   * Type of the activity or child, name of the signal, update, operation or reducer; `*` matches
   * any text.
   */
  readonly type?: string;
  /** Path: "input[0].requestId". `*` and `[*]` match one name or index, `**` any number of them. */
  readonly path: string;
}

/** How the values of a replay are compared with its history. */
export interface ValueComparison {
  /** Values that are not compared. */
  readonly ignore?: readonly ValueRule[];
}

/** A recorded value that cannot be decoded, next to a value of the code that can. */
export interface UncomparedValue {
  /** Event id of the command. */
  readonly eventId: number;
  /** Path of the value, as in a {@link ValueRule}. */
  readonly path: string;
  /** Encoding in the history. */
  readonly encoding: string;
}

/** A command with values that differ from its event, in fields that replay does not compare. */
export interface ChangedValue {
  /** Event id of the command. */
  readonly eventId: number;
  /** Id of the WorkflowTaskStarted event of its task. */
  readonly startedEventId: number;
  /** The step in history: `a timer of 30 d`, `activity charge`. */
  readonly step: string;
  /** The user's line, "function (file:line:column)"; "" if unknown. */
  readonly site: string;
  /** Differing fields. */
  readonly differences: readonly ValueDifference[];
  /** The differences as a sentence. */
  readonly sentence: string;
}

/** Both sides of one step. */
export interface StepPair {
  /** The step in history; undefined if history has none. */
  readonly history: Step | undefined;
  /** The step in the code; undefined if the code has none. */
  readonly code: Step | undefined;
  /** Replay considers them equal. */
  readonly same: boolean;
  /** Differing fields. */
  readonly differences: readonly FieldDifference[];
}

/** Both sides of one workflow task. */
export interface TaskPairs {
  /** From 1. */
  readonly task: number;
  /** Id of its WorkflowTaskStarted event. */
  readonly startedEventId: number;
  /** Both sides, step by step. */
  readonly pairs: readonly StepPair[];
  /** The code did not run for it, because the replay had ended: only history is known. */
  readonly notReplayed: boolean;
}

/** Kind of an edit of the code. */
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
  | "failingCode"
  | "patchRenamed"
  | "patchRemoved"
  | "randomShifted"
  | "unknown";

/** The probable change of the code since the history was recorded. */
export interface LikelyEdit {
  readonly kind: EditKind;
  /** A sentence: `activity reserveStock was added before activity chargeCard`. */
  readonly text: string;
  /** The step that was added, removed, renamed or moved; "" if unknown. */
  readonly subject: string;
  /**
   * "verified": with this edit undone, the rest of the history replays. "likely": later steps
   * match. "guess": several edits would look the same.
   */
  readonly confidence: "verified" | "likely" | "guess";
}

/** Lines of a text and their replacement. */
export interface LineChange {
  /** From 1. */
  readonly first: number;
  /** The last replaced line; `first - 1` for an insertion. */
  readonly last: number;
  readonly lines: readonly string[];
}

/** A change that makes open runs replay again. */
export interface Repair {
  /** A name for `patched`; "" for other repairs. */
  readonly patchId: string;
  /** The repair in a sentence. */
  readonly text: string;
  /** Code to paste, based on the user's lines if known; "" if none. */
  readonly code: string;
  /**
   * Changes of the module of `location`, from end to start. Undefined: its text is unknown, or the
   * code has placeholders.
   */
  readonly changes?: readonly LineChange[];
  /**
   * True if the history was replayed strictly with the changes applied, and matches. Absent: not
   * proven.
   */
  readonly isReplayed?: boolean;
  /** Position: "function (file:line:column)"; "" if unknown. */
  readonly location: string;
}

/** Why a history and the current code differ, and where first. */
export interface Divergence {
  /** Number of the workflow task, from 1, among completed ones. */
  readonly firstTask: number;
  /** Id of its WorkflowTaskStarted event. */
  readonly startedEventId: number;
  /**
   * The first event that the code does not produce; for an extra step, the last matching event
   * before it.
   */
  readonly eventId: number;
  /** The user's line, "function (file:line:column)"; "" if unknown. */
  readonly location: string;
  /** The fiber of that line: "run", "handler of add_item", "branch 2"; "" if unknown. */
  readonly fiber: string;
  /** A description with names, event and line. */
  readonly sentence: string;
  /** The first pair that differs. */
  readonly first: StepPair;
  /** The task of the first difference, and adjacent tasks. */
  readonly tasks: readonly TaskPairs[];
  /**
   * What history has after the first difference: the end of the run, more steps, or nothing.
   * Without later steps nothing proves what an edit replaced.
   */
  readonly following: "end" | "steps" | "nothing";
  readonly edit: LikelyEdit;
  /** The repair; undefined if unknown. */
  readonly repair: Repair | undefined;
  /** Equal for runs that differ from the code in the same way, at the same line. */
  readonly key: string;
}

/** Runs that share a difference. */
export interface SharedDivergence<Run> {
  /** Key of the difference. */
  readonly key: string;
  /** Divergence of the first run. */
  readonly divergence: Divergence;
  readonly runs: readonly Run[];
}
