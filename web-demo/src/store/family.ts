// Related opened runs as a tree: a chain of runs, one after the other in time, and below it the
// chains of their children.
import { type Tie, tieOfLink } from "./chain.ts";
import type { OpenRun } from "./state.ts";

/** One run in its chain. */
export interface Piece {
  readonly run: OpenRun;
  /**
   * The first event after a reset point: the events before it belong to the previous run. 1 without
   * a reset.
   */
  readonly first: number;
  readonly startMs: number;
  readonly endMs: number;
  /** Number of events of the pieces before this one. */
  readonly offset: number;
}

/** Runs of one workflow, in order of time. */
export interface Chain {
  /** The key of its first run. */
  readonly key: string;
  readonly pieces: readonly Piece[];
  /** Number of events of all pieces. */
  readonly events: number;
  /** In order of their starts. */
  readonly children: readonly Chain[];
}

/** All opened runs that are related to one. */
export interface Family {
  readonly root: Chain;
  /** At least two, unless the family was made by {@link familyOfOne}. */
  readonly runs: readonly OpenRun[];
  readonly chains: ReadonlyMap<OpenRun, Chain>;
}

type Edges = ReadonlyMap<OpenRun, readonly (readonly [Tie, OpenRun])[]>;
const OTHER: { readonly [tie in Tie]: Tie } = {
  before: "after",
  after: "before",
  parent: "child",
  child: "parent",
};

/** The family of each run that is related to another one. */
export function familiesOf(all: readonly OpenRun[]): ReadonlyMap<OpenRun, Family> {
  const edges = edgesOf(all);
  const families = new Map<OpenRun, Family>();
  for (const run of all) {
    if (families.has(run) || edges.get(run)!.length === 0) continue;
    const family = familyOf(run, edges);
    for (const member of family.runs) families.set(member, family);
  }
  return families;
}

/** Each relation in both directions, also if only one of the two histories has the link. */
function edgesOf(all: readonly OpenRun[]): Edges {
  const edges = new Map(all.map((run) => [run, [] as [Tie, OpenRun][]]));
  const byRun = new Map<string, OpenRun>(), byWorkflow = new Map<string, OpenRun>();
  for (const run of all) {
    const { id, runId } = run.model.facts;
    if (runId !== "" && !byRun.has(runId)) byRun.set(runId, run);
    if (id !== "" && !byWorkflow.has(id)) byWorkflow.set(id, run);
  }
  const add = (run: OpenRun, tie: Tie, other: OpenRun) => {
    const known = edges.get(run)!;
    if (!known.some(([, there]) => there === other)) known.push([tie, other]);
  };
  for (const run of all) {
    for (const link of run.model.facts.links) {
      const tie = tieOfLink(link);
      const other = link.runId === "" ? byWorkflow.get(link.workflowId) : byRun.get(link.runId);
      if (tie === undefined || other === undefined || other === run) continue;
      add(run, tie, other);
      add(other, OTHER[tie], run);
    }
  }
  return edges;
}

/** All runs that can be reached from a run over relations of these kinds. */
function reached(from: OpenRun, edges: Edges, ties: readonly Tie[]): readonly OpenRun[] {
  const found = new Set([from]);
  for (const run of found) {
    for (const [tie, other] of edges.get(run)!) if (ties.includes(tie)) found.add(other);
  }
  return [...found];
}

const ALONG: readonly Tie[] = ["before", "after"];

function familyOf(some: OpenRun, edges: Edges): Family {
  const runs = reached(some, edges, ["before", "after", "parent", "child"]);
  const groups = new Map<OpenRun, readonly OpenRun[]>();
  for (const run of runs) {
    if (groups.has(run)) continue;
    const group = reached(run, edges, ALONG);
    for (const member of group) groups.set(member, group);
  }
  const others = (
    group: readonly OpenRun[],
    tie: Tie,
  ) => [
    ...new Set(
      group.flatMap((run) =>
        edges.get(run)!.filter(([kind]) => kind === tie).map(([, other]) => groups.get(other)!)
      ),
    ),
  ];
  const chains = new Map<OpenRun, Chain>();
  const made = new Set<readonly OpenRun[]>();
  const make = (group: readonly OpenRun[]): Chain => {
    made.add(group);
    const children = others(group, "child").filter((other) => !made.has(other)).map(make).sort(
      byStart,
    );
    const chain = chainOf(group, edges, children);
    for (const run of group) chains.set(run, chain);
    return chain;
  };
  // A forged history can make a run its own grandparent; the set ends that loop.
  const above = new Set([groups.get(some)!]);
  for (const group of above) for (const parent of others(group, "parent")) above.add(parent);
  const root = make([...above].at(-1)!);
  return { root, runs: runs.filter((run) => chains.has(run)), chains };
}

const byStart = (a: Chain, b: Chain) => a.pieces[0]!.startMs - b.pieces[0]!.startMs;

function chainOf(group: readonly OpenRun[], edges: Edges, children: readonly Chain[]): Chain {
  const ranks = new Map<OpenRun, number>();
  const rank = (run: OpenRun): number => {
    const known = ranks.get(run);
    if (known !== undefined) return known;
    ranks.set(run, 0);
    const before = edges.get(run)!.filter(([tie]) => tie === "before").map(([, other]) =>
      rank(other) + 1
    );
    const own = Math.max(0, ...before);
    ranks.set(run, own);
    return own;
  };
  const parts = group.map((run) => {
    const { facts, lines } = run.model;
    const base = (runId: string) =>
      edges.get(run)!.some(([tie, other]) => tie === "before" && other.model.facts.runId === runId);
    const first = facts.links.findLast(({ kind, runId }) =>
      kind === "resetFrom" && base(runId)
    )?.eventId ?? 1;
    const startMs = lines[first - 1]?.timeMs ?? facts.startMs ?? facts.endMs ?? 0;
    return { run, first, startMs, endMs: Math.max(startMs, facts.endMs ?? startMs) };
  }).sort((a, b) => a.startMs - b.startMs || rank(a.run) - rank(b.run));
  let events = 0;
  const pieces = parts.map((part): Piece => {
    const piece = { ...part, offset: events };
    events += part.run.model.lines.length - part.first + 1;
    return piece;
  });
  return { key: pieces[0]!.run.key, pieces, events, children };
}

/** The family of a run without relations. */
export const familyOfOne = (run: OpenRun): Family => familyOf(run, new Map([[run, []]]));
