// Receives reports of a debug session's probes (modules/loader/line_probes.ts inserts them). The
// realm has one LineProbes; during a replay with `lines` its watcher is notified. Otherwise a probe
// costs one test.

/** The position of a probe. Its number is its index in the module's table. */
export interface ProbePoint {
  /** From 1. */
  readonly line: number;
  /** From 1, in the text without types. */
  readonly column: number;
  readonly kind: "statement" | "await" | "call" | "test" | "catch";
  /**
   * The awaited or called name: "sleep", "activities.charge"; "if" or "throw" for such statements;
   * of a test its kind: "if", "while", "?:", "&&", "condition"; or "".
   */
  readonly name: string;
  /** Names of the variables that its reader supports. */
  readonly variables: readonly string[];
  /** For a test: its source text, and those of its operands. */
  readonly test?: { readonly text: string; readonly operands: readonly string[] };
  /** For the result of a predicate of `condition`: the numbers of the calls in the module. */
  readonly callPoints?: readonly number[];
  /** For a call of `condition`: what can change its predicate. */
  readonly condition?: ProbedCondition;
}

/** What can change the predicate of a `condition`, from the text of its module. */
export interface ProbedCondition {
  /** The variables that the predicate reads; undefined if it may read others. */
  readonly variables: readonly string[] | undefined;
  /** The module's handlers that can change it, by the points of their `setHandler` calls. */
  readonly handlers: readonly {
    readonly point: number;
    /** What the handler writes; empty if that is unknown. */
    readonly variables: readonly string[];
    /** The line of the first write; 0: unknown. */
    readonly line: number;
    /** The handler ends another wait, and the code after that wait writes the variables. */
    readonly isIndirect: boolean;
  }[];
}

/** A module with probes. Its points continue the numbers of earlier modules. */
export interface ProbedSource {
  readonly url: string;
  readonly points: readonly ProbePoint[];
  /**
   * For generated modules: for each line (from 1; index 0 is unused) index in `sources` and line,
   * or null.
   */
  readonly origins?: readonly (readonly [number, number] | null)[];
  readonly sources?: readonly string[];
}

/**
 * Reads the variable with this index in `variables`; throws before its initialization. 0: no
 * variables.
 */
export type VariableReader = ((index: number) => unknown) | 0 | undefined;

/** The guard's handling of a call: workflow time, a number of the run's generator, or an error. */
export type GuardEffect = "clock" | "random" | "refused";

/** Notified of executed code. Must not throw or call user code. */
export interface LineWatcher {
  hit(point: number, read: VariableReader): void;
  awaits(point: number, value: unknown, read: VariableReader): void;
  calls(point: number, read: VariableReader): void;
  /** A test was evaluated: the condition of an `if`, a loop, `?:`, or a logical expression. */
  tested(point: number, value: unknown): void;
  /** An operand of a test was evaluated. */
  operand(point: number, index: number, value: unknown): void;
  /** Code caught an error. */
  caught(point: number, error: unknown): void;
  /**
   * The guard handled a call of `api`, "Date.now()". `given`: the result, or the advice of the
   * error.
   */
  guarded(api: string, effect: GuardEffect, given: number | string): void;
}

/** The probe functions of a module: `$tlh`, `$tlv`, `$tlc`, `$tlb`, `$tlo`, `$tlx`. */
export type ProbeFunctions = readonly [
  hit: (point: number, read?: VariableReader) => void,
  awaits: <T>(point: number, value: T, read?: VariableReader) => T,
  calls: (point: number, read?: VariableReader) => void,
  tested: <T>(point: number, value: T) => T,
  operand: <T>(point: number, index: number, value: T) => T,
  caught: (point: number, error: unknown) => void,
];

/** Names of the probes, free in the text and provided by the realm. */
export const PROBES: readonly string[] = ["$tlh", "$tlv", "$tlc", "$tlb", "$tlo", "$tlx"];

/** Wraps compiled code in a function with the probes as parameters. Line numbers stay. */
export const takingProbes = (code: string): string =>
  `(function(${PROBES.join(",")}){return ${code}\n})`;

export class LineProbes {
  watcher: LineWatcher | undefined;
  readonly modules: ProbedSource[] = [];
  /** Hits while the realm was loaded (module code that all runs share), by point. */
  readonly loading = new Map<number, number>();
  isLoading = false;
  #points = 0;

  /** Returns the probes of a module, with new numbers. */
  add(source: ProbedSource): ProbeFunctions {
    const first = this.#points;
    this.#points += source.points.length;
    this.modules.push(source);
    return [
      (point, read) => {
        const { watcher } = this;
        if (watcher !== undefined) watcher.hit(first + point, read);
        else if (this.isLoading) {
          this.loading.set(first + point, (this.loading.get(first + point) ?? 0) + 1);
        }
      },
      (point, value, read) => {
        this.watcher?.awaits(first + point, value, read);
        return value;
      },
      (point, read) => this.watcher?.calls(first + point, read),
      (point, value) => {
        this.watcher?.tested(first + point, value);
        return value;
      },
      (point, index, value) => {
        this.watcher?.operand(first + point, index, value);
        return value;
      },
      (point, error) => this.watcher?.caught(first + point, error),
    ];
  }
}

/** The realm's probes. */
export const lineProbes: LineProbes = new LineProbes();

/** A logical thread of workflow code in a debug session. */
export interface WatchedFiber {
  readonly kind: "run" | "handler" | "async" | "branch" | "arm" | "shield";
  readonly label: string;
  readonly parent?: WatchedFiber | undefined;
}

/** Notified of the fibers of a run and what wakes them. Only in debug sessions. */
export interface RunWatch {
  /** Code from now on is caused by this event. */
  told(eventId: number): void;
  /** The cause of the next fiber: a message, by its input in the job, or another fiber's cause. */
  about(cause: object): void;
  began(fiber: WatchedFiber): void;
  /** The fiber continues. */
  turned(fiber: WatchedFiber): void;
  ended(fiber: WatchedFiber): void;
  /** The state of a receive changed. */
  stateSet(state: unknown): void;
  /** publishState was called. */
  published(): void;
}
