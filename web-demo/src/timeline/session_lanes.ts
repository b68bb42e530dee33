// Lanes that a replay adds: the code's command at the divergence, one lane per fiber that outlives
// its task, and the published state. They are built once per replay.
import type { DebugSession } from "temporalex/debug";
import type { RunModel } from "../store/run_model.ts";
import { briefOf } from "../code/session_facts.ts";
import type { GlyphKind } from "../ui/glyph.tsx";

/** A bar in a lane. */
export interface SessionBar {
  /** The event at which it begins. */
  readonly from: number;
  readonly fromMs: number;
  /** The end of the history if it has not ended. */
  readonly toMs: number;
  readonly text: string;
  /** Index of the fiber. */
  readonly fiber: number | undefined;
  /** The event of the message that started the fiber. */
  readonly cause: number | undefined;
}

export interface SessionLane {
  readonly key: string;
  readonly is: "code" | "fiber" | "state";
  readonly kind: GlyphKind;
  readonly label: string;
  /** Ascending by their start. */
  readonly bars: readonly SessionBar[];
}

/** Limit for lanes of fibers. Further fibers share the last lane and overlap. */
const MOST_FIBER_LANES = 8;
/** Published states of longer runs are not decoded for a lane. The inspector shows them. */
const MOST_STATE_TASKS = 2000;

/** `clock`: the time of each event, at index id - 1. */
export function sessionLanes(
  model: RunModel,
  session: DebugSession | undefined,
  clock: ArrayLike<number>,
): SessionLane[] {
  if (session === undefined) return [];
  return [
    ...codeLane(session, clock),
    ...fiberLanes(model, session, clock),
    ...stateLane(session, clock),
  ];
}

function codeLane({ problem }: DebugSession, clock: ArrayLike<number>): SessionLane[] {
  if (problem === undefined || !problem.isDivergence) return [];
  const { position, divergence } = problem;
  const text = divergence === undefined ? problem.actual : divergence.first.code?.text ?? "nothing";
  const ms = clock[position - 1] ?? 0;
  const bar = {
    from: position,
    fromMs: ms,
    toMs: ms,
    text: text || "something else",
    fiber: undefined,
    cause: undefined,
  };
  return [{ key: "code", is: "code", kind: "difference", label: "your code", bars: [bar] }];
}

interface Filling {
  readonly kind: GlyphKind;
  /** The name of its fibers. */
  readonly name: string;
  readonly label: string;
  readonly bars: SessionBar[];
  /** The event from which on the lane is free; undefined if it stays occupied. */
  free: number | undefined;
}

/** Fibers with the same name that follow each other share a lane. */
function fiberLanes(
  model: RunModel,
  { code }: DebugSession,
  clock: ArrayLike<number>,
): SessionLane[] {
  const lanes: Filling[] = [];
  const endMs = clock[clock.length - 1] ?? 0;
  for (const { id, kind, name, from, to, cause } of code?.fibers ?? []) {
    // A fiber that ends in its first task has no duration: its message is enough.
    if (kind === "run" || to === from) continue;
    const message = cause === undefined ? undefined : model.itemOf(cause);
    const detail = message === undefined ? "" : model.detailOf(message);
    const bar: SessionBar = {
      from,
      fromMs: clock[from - 1] ?? 0,
      toMs: to === undefined ? endMs : clock[to - 1] ?? endMs,
      text: detail === "" ? name : detail,
      fiber: id,
      cause,
    };
    let lane = lanes.find((one) => one.name === name && one.free !== undefined && one.free <= from);
    if (lane === undefined && lanes.length < MOST_FIBER_LANES) {
      // A handler is named by its message, because a narrow head has no room for more.
      const { kind, name: label } = message ?? { kind: "run" as const, name };
      lanes.push(lane = { kind, name, label, bars: [], free: from });
    }
    lane ??= lanes.at(-1)!;
    lane.bars.push(bar);
    lane.free = to;
  }
  return lanes.map(({ kind, name, label, bars }, i) => {
    const others = bars.some(({ fiber }) => code!.fibers[fiber!]!.name !== name);
    return { key: `fiber ${i}`, is: "fiber", kind, label: others ? "more fibers" : label, bars };
  });
}

function stateLane({ code, tasks, length }: DebugSession, clock: ArrayLike<number>): SessionLane[] {
  if (code === undefined || tasks.length > MOST_STATE_TASKS) return [];
  const changes = code.changes("published", [], length);
  if (changes.length === 0) return [];
  const endMs = clock[clock.length - 1] ?? 0;
  const msOf = (eventId: number) => clock[eventId - 1] ?? 0;
  const bars = changes.map(({ taskEventId, fiber, after }, i) => ({
    from: taskEventId,
    fromMs: msOf(taskEventId),
    toMs: i + 1 < changes.length ? msOf(changes[i + 1]!.taskEventId) : endMs,
    text: briefOf(after),
    fiber,
    cause: undefined,
  }));
  // Only the last of several states of one task.
  const last = bars.filter(({ from }, i) => bars[i + 1]?.from !== from);
  return [{ key: "state", is: "state", kind: "state", label: "state", bars: last }];
}
