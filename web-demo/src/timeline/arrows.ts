// Arrows of the task at the position: from an item to the fiber that it resumed.
import type { Cause, DebugSession } from "temporalex/debug";
import type { RunModel } from "../store/run_model.ts";
import { LANE_PX, type PlacedLane } from "../../../ts/run_view/timeline/geometry.ts";
import type { Scale } from "../../../ts/run_view/timeline/scale.ts";
import type { SessionLane } from "./session_lanes.ts";

export interface Arrow {
  readonly key: string;
  readonly fromX: number;
  readonly fromY: number;
  readonly toX: number;
  readonly toY: number;
  /** `restock wakes handler of restock`. */
  readonly text: string;
}

/** If more fibers are resumed at once, no arrows are drawn. */
const MOST = 12;
/**
 * Causes of longer runs are not collected for the timeline. The inspector shows them for each
 * await.
 */
const MOST_TASKS = 2000;

/** What resumed fibers, by the event of the task in which they resumed. */
export type CausesByTask = ReadonlyMap<number, readonly Cause[]>;

export function causesByTask({ code, tasks }: DebugSession): CausesByTask {
  const byTask = new Map<number, Cause[]>();
  if (code === undefined || tasks.length > MOST_TASKS) return byTask;
  for (const cause of code.causes) {
    const known = byTask.get(cause.taskEventId);
    if (known === undefined) byTask.set(cause.taskEventId, [cause]);
    else known.push(cause);
  }
  return byTask;
}

export interface Placed {
  readonly model: RunModel;
  readonly session: DebugSession;
  readonly scale: Scale;
  readonly clock: ArrayLike<number>;
  readonly added: readonly SessionLane[];
  readonly lanes: readonly PlacedLane[];
}

/** Fibers and items without a lane have no arrow. */
export function arrowsOf(causes: readonly Cause[], placed: Placed): Arrow[] {
  const { model, session, scale, clock, lanes } = placed;
  const arrows: Arrow[] = [];
  for (const { eventId, fiber, taskEventId } of causes) {
    if (arrows.length === MOST) break;
    const item = model.itemOf(eventId);
    const lane = item === undefined
      ? undefined
      : lanes.find(({ lane }) => lane.items.includes(item));
    const toY = fiber === undefined ? undefined : fiberY(fiber, placed);
    if (item === undefined || lane === undefined || toY === undefined) continue;
    arrows.push({
      key: `${eventId} ${fiber}`,
      fromX: scale.x(clock[eventId - 1] ?? 0),
      fromY: lane.top + lane.height / 2,
      toX: scale.x(clock[taskEventId - 1] ?? 0),
      toY,
      text: `${item.name} wakes ${session.code!.fibers[fiber!]?.name ?? "the run"}`,
    });
  }
  return arrows;
}

/** The lower edge of the shapes in a fiber's lane. The first lane is that of the run. */
function fiberY(fiber: number, { session, added }: Placed): number | undefined {
  const bottom = (index: number) => (index + 1) * LANE_PX - 4;
  if (session.code?.fibers[fiber]?.kind === "run") return bottom(0);
  const at = added.findIndex(({ is, bars }) =>
    is === "fiber" && bars.some((bar) => bar.fiber === fiber)
  );
  return at < 0 ? undefined : bottom(at + 1);
}
