// What a run of a program for Temporal shows to a debug session: where its code stands, and which messages it has handlers for.
import type { RunSnapshot, Wait, WaitKind } from "../executor/program/snapshot.ts";
import type { WaitingAt } from "../executor/program/stack_traces.ts";
import type { CompatRun } from "./run.ts";

/** One wait of workflow code, and where the code was when it began to wait. */
export class Standing implements WaitingAt {
  readonly fiber: string;
  readonly label: string;
  readonly site: string;
  /** The fiber, as a debug session knows it. */
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

/** A look at the run between two activations. */
export function snapshotOf(run: CompatRun): RunSnapshot {
  const { timers, activities, childEnds, nexusStarts, nexusEnds, externalSignals, externalCancels, conditions } = run;
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
  const waits = run.completed ? [] : pending.flatMap(([kind, waiting]) =>
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
