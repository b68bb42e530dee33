// What can stand on a side: an opened run as it was recorded, or a branch of it that has run.
import type { DebugSession, SessionView } from "temporalex/debug";
import type { HistoryEvent } from "../../../ts/api/generated/temporal/api/history/v1/message_pb.ts";
import { openedRuns, type OpenRun } from "../app/state.ts";
import { branchesOf, knownBranches } from "../what_if/branches.ts";
import { runOfSide } from "./mod.ts";

/** One side of a comparison. */
export interface Side {
  readonly run: OpenRun;
  /** "Recorded", or the title of the branch; of runs with one id, the name of the file or sample. */
  readonly title: string;
  /** Undefined while the file is read. */
  readonly events: readonly HistoryEvent[] | undefined;
  /** Undefined where the code has not run. */
  readonly session: DebugSession | undefined;
}

/** All that can be chosen: the side and how it is called. */
export function choices(): readonly (readonly [side: string, label: string])[] {
  return openedRuns.value.flatMap((run) => {
    const { type, id } = run.model.facts;
    const name = isOneOfSeveral(run) ? run.name : `${type} ${id || run.name}`;
    const branches = knownBranches(run)?.tree.value.nodes.filter(({ result }) => result !== undefined) ?? [];
    return [
      [run.key, `${name}, recorded`] as const,
      ...branches.map(({ id, title }) => [`${run.key}~${id}`, `${name}, branch ${id}: ${title}`] as const),
    ];
  });
}

/** Another open run has its type and id: then their names tell them apart. */
const isOneOfSeveral = (run: OpenRun): boolean =>
  openedRuns.value.some((other) =>
    other !== run && other.model.facts.id === run.model.facts.id && other.model.facts.type === run.model.facts.type
  );

/** What stands on a side; a string: why nothing does. */
export function sideOf(side: string): Side | string {
  const run = openedRuns.value.find(({ key }) => key === runOfSide(side));
  if (run === undefined) return "This run is not open: open its history.";
  const branches = branchesOf(run);
  const branch = Number(/~(\d+)$/.exec(side)?.[1] ?? 0);
  if (branch === 0) {
    return {
      run,
      title: isOneOfSeveral(run) ? run.name : "Recorded",
      events: branches.history.value?.events,
      session: run.session.value,
    };
  }
  const node = branches.tree.value.nodes.find(({ id }) => id === branch);
  if (node?.result === undefined) {
    return `Branch ${branch} is not here: branches last until the page is loaded again. Run it again with What if.`;
  }
  return { run, title: node.title, events: node.result.events, session: branches.sessions.value.get(branch) };
}

/** What the code shows at an event; undefined: it has not run, or not begun. */
export function sideView({ session }: Side, eventId: number): SessionView | undefined {
  return session === undefined || eventId < 1 ? undefined : session.viewAt(Math.min(eventId, session.length));
}
