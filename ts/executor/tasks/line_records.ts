// What a replay with line probes writes down (line_trace.ts), as plain data that leaves the realm in one message.
import type { GuardEffect, ProbedSource, WatchedFiber } from "../program/line_probe.ts";

/** A fiber: `from` and `to` are indices of activations. */
export interface LaneRecord {
  readonly kind: WatchedFiber["kind"];
  /** `run`, `handler of add_item`, `branch 2`. */
  readonly name: string;
  readonly label: string;
  readonly parent: number;
  readonly from: number;
  to: number;
  /** The event that it was begun for; 0: none. */
  readonly cause: number;
  /** Of the handler of an update: the id that answers to it carry. */
  readonly update: string;
}

/** A look at local variables: indices into `texts`, by variable of the point; -1: it had no value yet. */
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
  /** Index of the activation in which it was over; -1: it is not. */
  to: number;
  /** The event that ended it; 0: none. */
  endedBy: number;
  /** Index in `texts` of what it gave; -1: not over. */
  outcome: number;
  rejected: boolean;
  /** Index in the trace's waits of what is awaited; -1: a promise of the user's own. */
  wait: number;
}

/** An event that made a fiber go on. */
export interface WakeRecord {
  readonly at: number;
  readonly eventId: number;
  readonly lane: number;
  /** The await that was over; -1: it began. */
  readonly point: number;
  readonly wait: number;
}

/** Calls of one API that the guard answered or refused at one line, in one activation: the last of them. */
export interface GuardRecord {
  readonly at: number;
  readonly lane: number;
  readonly point: number;
  /** "Date.now()" */
  readonly api: string;
  readonly effect: GuardEffect;
  /** Index in `texts`: what it gave, or the advice of a refusal. */
  text: number;
}

/** Everything, per activation where it says "at". -1 stands for nothing. */
export interface LineTrace {
  readonly modules: readonly ProbedSource[];
  /** Point, lane, how often; and so on: those of the first activation, then those of the next one. Of loading: in the first, without a lane. */
  readonly hits: Uint32Array;
  /** Per activation: where its hits end. */
  readonly hitEnds: Uint32Array;
  readonly looks: readonly LookRecord[];
  readonly awaits: readonly AwaitRecord[];
  readonly lanes: readonly LaneRecord[];
  readonly wakes: readonly WakeRecord[];
  /** Copies as JSON, and which of them had something left out. */
  readonly texts: readonly string[];
  readonly cut: readonly number[];
  /** For each log line of the trace: the point that ran last, and its lane. */
  readonly logs: readonly (readonly [point: number, lane: number])[];
  /** For each wait of the trace: its fiber. */
  readonly waitLanes: readonly number[];
  /** For each call of publishState: its activation, the point that ran last, and its lane. */
  readonly published: readonly (readonly [at: number, point: number, lane: number])[];
  /** States of receives, as they were set: index in `texts`. */
  readonly states: readonly { readonly at: number; readonly lane: number; readonly point: number; readonly text: number }[];
  readonly guards: readonly GuardRecord[];
  /** Of the one task that was asked for, in the order in which they ran: point and lane, and so on; the last ones. */
  readonly path: readonly number[];
}
