// Records of a replay with line probes (line_trace.ts), as plain data sent in one message.
import type { GuardEffect, ProbedSource, WatchedFiber } from "../program/line_probe.ts";

/** A fiber; `from` and `to` are indices of activations. */
export interface LaneRecord {
  readonly kind: WatchedFiber["kind"];
  /** `run`, `handler of add_item`, `branch 2`. */
  readonly name: string;
  readonly label: string;
  readonly parent: number;
  readonly from: number;
  to: number;
  /** Id of the event that started it; 0: none. */
  readonly cause: number;
  /** For an update handler: the id in its responses. */
  readonly update: string;
}

/** Values of local variables: indices into `texts`, by variable of the point; -1: no value yet. */
export interface LookRecord {
  readonly point: number;
  readonly at: number;
  readonly lane: number;
  readonly texts: readonly number[];
}

/** An await of a promise that did not settle at once. */
export interface AwaitRecord {
  readonly point: number;
  readonly lane: number;
  readonly from: number;
  /** Index of the activation in which it settled; -1: pending. */
  to: number;
  /** Id of the event that settled it; 0: none. */
  endedBy: number;
  /** Index of its result in `texts`; -1: pending. */
  outcome: number;
  rejected: boolean;
  /** Index of the awaited wait in the trace; -1: a promise of the user's code. */
  wait: number;
}

/** An event that resumed a fiber. */
export interface WakeRecord {
  readonly at: number;
  readonly eventId: number;
  readonly lane: number;
  /** The await that settled; -1: the fiber started. */
  readonly point: number;
  readonly wait: number;
}

/** Guarded calls of one API at one line in one activation: the last result. */
export interface GuardRecord {
  readonly at: number;
  readonly lane: number;
  readonly point: number;
  /** "Date.now()" */
  readonly api: string;
  readonly effect: GuardEffect;
  /** Index in `texts`: the result, or the advice of the error. */
  text: number;
}

/** The last evaluation of a test in an activation. */
export interface TestRecord {
  readonly at: number;
  readonly lane: number;
  readonly point: number;
  /** Index of the value in `texts`. */
  readonly result: number;
  readonly isTrue: boolean;
  /** Values of the operands: indices in `texts`; -1: not evaluated, or too large to copy. */
  readonly operands: readonly number[];
}

/** A mistake in the code, such as a TypeError, that code caught or that passed a `finally`. */
export interface CaughtRecord {
  readonly at: number;
  readonly lane: number;
  readonly point: number;
  /** "TypeError: menu is undefined". */
  readonly error: string;
  /** The user frame that created it; "" if unknown. */
  readonly site: string;
}

/** All records; `at` is the index of an activation. -1: none. */
export interface LineTrace {
  readonly modules: readonly ProbedSource[];
  /**
   * Triples (point, lane, count), activation after activation. Hits during loading are in the
   * first, without lane.
   */
  readonly hits: Uint32Array;
  /** The end of each activation's hits. */
  readonly hitEnds: Uint32Array;
  readonly looks: readonly LookRecord[];
  readonly awaits: readonly AwaitRecord[];
  readonly lanes: readonly LaneRecord[];
  readonly wakes: readonly WakeRecord[];
  /** Copies as JSON, and the indices of shortened ones. */
  readonly texts: readonly string[];
  readonly cut: readonly number[];
  /** For each log line of the trace: the last point and its lane. */
  readonly logs: readonly (readonly [point: number, lane: number])[];
  readonly waitLanes: readonly number[];
  /** For each publishState: activation, last point and its lane. */
  readonly published: readonly (readonly [at: number, point: number, lane: number])[];
  /** States of receives when set; `text` is an index in `texts`. */
  readonly states: readonly {
    readonly at: number;
    readonly lane: number;
    readonly point: number;
    readonly text: number;
  }[];
  readonly guards: readonly GuardRecord[];
  readonly tests: readonly TestRecord[];
  readonly caught: readonly CaughtRecord[];
  /** The path through the requested task: pairs (point, lane), the last ones. */
  readonly path: readonly number[];
}
