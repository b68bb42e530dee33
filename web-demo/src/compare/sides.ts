// The possible sides of a comparison: an opened run as recorded, or a branch of it that has run.
import type { DebugSession, SessionView } from "temporalex/debug";
import type { HistoryEvent } from "../../../ts/messages/generated/temporal/api/history/v1/message_pb.ts";
import { openedRuns, type OpenRun } from "../store/state.ts";
import { branchesOf, knownBranches } from "../what_if/branches.ts";
import { runOfSide } from "./mod.ts";

/** One side of a comparison. */
export interface Side {
  readonly run: OpenRun;
  /**
   * "Recorded", or the title of the branch. Among runs with the same id: the name of the file or
   * sample.
   */
  readonly title: string;
  /** Undefined while the file is being read. */
  readonly events: readonly HistoryEvent[] | undefined;
  /** Undefined if the code has not run. */
  readonly session: DebugSession | undefined;
}

/** All sides that can be chosen, with their labels. */
export function choices(): readonly (readonly [side: string, label: string])[] {
  return openedRuns.value.flatMap((run) => {
    const { type, id } = run.model.facts;
    const name = isOneOfSeveral(run) ? run.name : `${type} ${id || run.name}`;
    const branches = knownBranches(run)?.tree.value.nodes.filter(({ result }) =>
      result !== undefined
    ) ?? [];
    return [
      [run.key, `${name}, recorded`] as const,
      ...branches.map(({ id, title }) =>
        [`${run.key}~${id}`, `${name}, branch ${id}: ${title}`] as const
      ),
    ];
  });
}

/** Whether another opened run has the same type and id, so that only the file name is unique. */
const isOneOfSeveral = (run: OpenRun): boolean =>
  openedRuns.value.some((other) =>
    other !== run && other.model.facts.id === run.model.facts.id &&
    other.model.facts.type === run.model.facts.type
  );

/** The content of a side, or a string that says why it is empty. */
export function sideOf(side: string): Side | string {
  const run = openedRuns.value.find(({ key }) => key === runOfSide(side));
  if (run === undefined) return "This run is not open. Open its history.";
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
    return `Branch ${branch} does not exist: a reload deletes branches. Run it again with What if.`;
  }
  return {
    run,
    title: node.title,
    events: node.result.events,
    session: branches.sessions.value.get(branch),
  };
}

/** The state of the code at an event; undefined if it has not run, or not started. */
export function sideView({ session }: Side, eventId: number): SessionView | undefined {
  return session === undefined || eventId < 1
    ? undefined
    : session.viewAt(Math.min(eventId, session.length));
}
