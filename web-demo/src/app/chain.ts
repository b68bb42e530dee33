// How opened runs hang together, by their run ids, whichever of two histories names the other: a run that was reset, for one, does not name
// the run that went on.
import type { RunLink } from "temporalex/debug";
import type { OpenRun } from "./state.ts";

/** What another run is to one. */
export type Tie = "before" | "after" | "parent" | "child";

const TIES: { readonly [kind in RunLink["kind"]]: readonly [Tie, Tie] | undefined } = {
  continuedFrom: ["before", "after"],
  resetFrom: ["before", "after"],
  continuedAs: ["after", "before"],
  retriedAs: ["after", "before"],
  parent: ["parent", "child"],
  child: ["child", "parent"],
  root: undefined,
};

/** What the run that a link names is to the one that names it; undefined: nothing. */
export const tieOfLink = ({ kind }: RunLink): Tie | undefined => TIES[kind]?.[0];

const names = ({ runId, workflowId }: RunLink, { model: { facts } }: OpenRun): boolean =>
  runId === "" ? facts.id === workflowId && workflowId !== "" : facts.runId === runId;

/** The opened runs that are tied to this one in a way, in the order in which they were opened. */
export const tiedTo = (run: OpenRun, tie: Tie, all: readonly OpenRun[]): readonly OpenRun[] =>
  all.filter((other) => other !== run && tieOf(run, other) === tie);

/** What the other run is to this one; undefined: nothing. */
export function tieOf(run: OpenRun, other: OpenRun): Tie | undefined {
  for (const link of run.model.facts.links) if (TIES[link.kind] !== undefined && names(link, other)) return TIES[link.kind]![0];
  for (const link of other.model.facts.links) if (TIES[link.kind] !== undefined && names(link, run)) return TIES[link.kind]![1];
  return undefined;
}
