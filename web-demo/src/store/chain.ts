// Relations of opened runs, found by run ids. One link is enough, from either history: a run that
// was reset does not name the new run.
import type { RunLink } from "temporalex/debug";
import type { OpenRun } from "./state.ts";

/** The relation of another run to a run. */
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

/**
 * The relation of the linked run to the run that has the link; undefined for a link to the root.
 */
export const tieOfLink = ({ kind }: RunLink): Tie | undefined => TIES[kind]?.[0];

const names = ({ runId, workflowId }: RunLink, { model: { facts } }: OpenRun): boolean =>
  runId === "" ? facts.id === workflowId && workflowId !== "" : facts.runId === runId;

/** The opened runs with this relation to a run, in the order in which they were opened. */
export const tiedTo = (run: OpenRun, tie: Tie, all: readonly OpenRun[]): readonly OpenRun[] =>
  all.filter((other) => other !== run && tieOf(run, other) === tie);

/** The relation of the other run to this one; undefined if they are not related. */
export function tieOf(run: OpenRun, other: OpenRun): Tie | undefined {
  for (const link of run.model.facts.links) {
    if (TIES[link.kind] !== undefined && names(link, other)) return TIES[link.kind]![0];
  }
  for (const link of other.model.facts.links) {
    if (TIES[link.kind] !== undefined && names(link, run)) return TIES[link.kind]![1];
  }
  return undefined;
}
