// State of a run of a program for Temporal in debug sessions: where its code waits, and its
// handlers.
import type { RunSnapshot, Wait, WaitKind } from "../executor/program/snapshot.ts";
import type { WaitingAt } from "../executor/program/stack_traces.ts";
import type { CompatRun } from "./run.ts";

/** A wait of workflow code, and its location. */
export class Standing implements WaitingAt {
  readonly fiber: string;
  readonly label: string;
  readonly site: string;
  /** The fiber in debug sessions. */
  readonly owner: object;
  kind: WaitKind = "condition";
  seq = 0;

  constructor(fiber: string, label: string, site: string, owner: object) {
    this.fiber = fiber;
    this.label = label;
    this.site = site;
    this.owner = owner;
  }

  inspect(): Wait {
    const { kind, label, fiber, site, seq } = this;
    return { kind, label, fiber, site, seq };
  }
}

/** Returns a snapshot of the run between two activations. */
export function takeSnapshot(run: CompatRun): RunSnapshot {
  const {
    timers,
    activities,
    childEnds,
    nexusStarts,
    nexusEnds,
    externalSignals,
    externalCancels,
    conditions,
  } = run;
  const pending: readonly (readonly [WaitKind, ReadonlyMap<number, object>])[] = [
    ["timer", timers],
    ["activity", activities],
    ["childWorkflow", childEnds],
    ["nexusStart", nexusStarts],
    ["nexusOperation", nexusEnds],
    ["externalSignal", externalSignals],
    ["externalCancel", externalCancels],
    ["condition", conditions],
  ];
  const waits = run.completed
    ? []
    : pending.flatMap(([kind, waiting]) =>
      [...waiting].flatMap(([seq, wait]) => {
        const standing = run.standingOf(wait);
        if (standing === undefined) return [];
        standing.kind = kind;
        standing.seq = kind === "condition" ? 0 : seq;
        return [standing];
      })
    );
  return { published: undefined, waits, ...run.messages.inspect() };
}
