// Where the probes of a debug session's modules report (modules/loader/line_probes.ts puts them into the text). The realm has one LineProbes;
// while a replay with `lines` activates its run, that replay's watcher is told what runs. Otherwise a probe costs a test and a return.

/** What a probe is at. Its number in its module is its index in the module's table. */
export interface ProbePoint {
  /** From 1. */
  readonly line: number;
  /** From 1, in the text without types. */
  readonly column: number;
  readonly kind: "statement" | "await" | "call";
  /** What is awaited or called: "sleep", "activities.charge"; "if" of a statement that branches, "throw" of one that throws; "" where it has no short name. */
  readonly name: string;
  /** Names of the variables that its reader knows. */
  readonly variables: readonly string[];
}

/** A module with probes. The numbers of its points in the realm follow those of the modules before it. */
export interface ProbedSource {
  readonly url: string;
  readonly points: readonly ProbePoint[];
  /** Of a module that a tool has made: for each of its lines (from 1; index 0 is not used) index in `sources` and line there, or nothing. */
  readonly origins?: readonly (readonly [number, number] | null)[];
  readonly sources?: readonly string[];
}

/** Reads the variable with this index in `variables`; throws where it has no value yet. 0: there are none. */
export type VariableReader = ((index: number) => unknown) | 0 | undefined;

/** What the guard does with a call: gives the workflow's time or a number of the run's generator, or refuses it. */
export type GuardEffect = "clock" | "random" | "refused";

/** Is told what runs. Must not throw, nor call anything of the user's. */
export interface LineWatcher {
  hit(point: number, read: VariableReader): void;
  awaits(point: number, value: unknown, read: VariableReader): void;
  calls(point: number, read: VariableReader): void;
  /** The guard answered or refused a call of `api`, "Date.now()". `given`: what the caller got, or the advice of a refusal. */
  guarded(api: string, effect: GuardEffect, given: number | string): void;
}

/** What a module with probes is given: `$tlh`, `$tlv`, `$tlc`. */
export type ProbeFunctions = readonly [
  hit: (point: number, read?: VariableReader) => void,
  awaits: <T>(point: number, value: T, read?: VariableReader) => T,
  calls: (point: number, read?: VariableReader) => void,
];

/** Names of the probes: free in the text, given by the realm. */
export const PROBES: readonly string[] = ["$tlh", "$tlv", "$tlc"];

/** A compiled module's code, as a function that takes the probes. Its lines stay where they are. */
export const takingProbes = (code: string): string => `(function(${PROBES.join(",")}){return ${code}\n})`;

export class LineProbes {
  watcher: LineWatcher | undefined;
  readonly modules: ProbedSource[] = [];
  /** Hits while the realm was loaded: code of modules that all runs share. By point. */
  readonly loading = new Map<number, number>();
  isLoading = false;
  #points = 0;

  /** The probes of a module, with numbers of its own. */
  add(source: ProbedSource): ProbeFunctions {
    const first = this.#points;
    this.#points += source.points.length;
    this.modules.push(source);
    return [
      (point, read) => {
        const { watcher } = this;
        if (watcher !== undefined) watcher.hit(first + point, read);
        else if (this.isLoading) this.loading.set(first + point, (this.loading.get(first + point) ?? 0) + 1);
      },
      (point, value, read) => {
        this.watcher?.awaits(first + point, value, read);
        return value;
      },
      (point, read) => this.watcher?.calls(first + point, read),
    ];
  }
}

/** The realm's. */
export const lineProbes: LineProbes = new LineProbes();

/** A logical thread of workflow code, as a debug session names it. */
export interface WatchedFiber {
  readonly kind: "run" | "handler" | "async" | "branch" | "arm" | "shield";
  readonly label: string;
  readonly parent?: WatchedFiber | undefined;
}

/** Is told of the fibers of a run and of what wakes them. Absent but in debug sessions. */
export interface RunWatch {
  /** What runs from now on comes of this event. */
  told(eventId: number): void;
  /** The next fiber is begun for this: a message, by its input as the job has it; or what this fiber was begun for. */
  about(cause: object): void;
  began(fiber: WatchedFiber): void;
  /** The fiber goes on. */
  turned(fiber: WatchedFiber): void;
  ended(fiber: WatchedFiber): void;
  /** The state of a receive is this from now on. */
  stateSet(state: unknown): void;
  /** publishState was called. */
  published(): void;
}
