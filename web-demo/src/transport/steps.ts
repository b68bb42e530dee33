// Targets of the step buttons. Each unit has ascending positions. A step moves to the next or
// previous one, or to the end or start of the run.
import type { EventLine, SessionCode } from "temporalex/debug";
import type { RunModel } from "../store/run_model.ts";
import type { OpenRun, StepUnit } from "../store/state.ts";

/** Types of events that are results of commands of the code. */
const OF_COMMANDS =
  /^(?:ActivityTaskScheduled|TimerStarted|TimerCanceled|ActivityTaskCancelRequested|MarkerRecorded|StartChildWorkflowExecutionInitiated|SignalExternalWorkflowExecutionInitiated|RequestCancelExternalWorkflowExecutionInitiated|UpsertWorkflowSearchAttributes|WorkflowPropertiesModified|NexusOperationScheduled|NexusOperationCancelRequested|WorkflowExecutionUpdateAccepted|WorkflowExecutionUpdateCompleted|WorkflowExecutionUpdateRejected|WorkflowExecutionCompleted|WorkflowExecutionFailed|WorkflowExecutionCanceled|WorkflowExecutionContinuedAsNew)$/;

/** The units, in the order of their buttons. */
export const UNITS: readonly (readonly [StepUnit, string])[] = [
  ["fiber", "Fiber"],
  ["line", "Line"],
  ["command", "Command"],
  ["event", "Event"],
  ["task", "Task"],
];

const idsOf = (lines: readonly EventLine[], wanted: (type: string) => boolean) =>
  lines.filter(({ type }) => wanted(type)).map(({ eventId }) => eventId);

const known = new WeakMap<RunModel, Map<StepUnit, readonly number[]>>();

/**
 * Positions of a unit, ascending. Undefined for fibers and lines before the run was replayed. Fiber
 * and line depend on the position: the fiber that resumed last, and the line at which the code
 * waits.
 */
export function positionsOf(
  unit: StepUnit,
  { model, session }: OpenRun,
  position: number,
): readonly number[] | undefined {
  if (unit === "fiber" || unit === "line") {
    const { code, tasks } = session.value ?? {};
    if (code === undefined) return undefined;
    // Before the first task no line waits: the step moves to the first task.
    return unit === "fiber"
      ? turnsOfFiber(code, position)
      : runsOfLine(code, position) ?? tasks!.map(({ eventId }) => eventId);
  }
  let ofModel = known.get(model);
  if (ofModel === undefined) known.set(model, ofModel = new Map());
  let positions = ofModel.get(unit);
  if (positions === undefined) ofModel.set(unit, positions = find(unit, model.lines));
  return positions;
}

/**
 * The tasks in which the fiber resumed that resumed last at the position. Before the first task:
 * those of the run's fiber.
 */
export function turnsOfFiber({ causes, fibers }: SessionCode, position: number): readonly number[] {
  const fiber = causes.findLast(({ taskEventId }) => taskEventId <= position)?.fiber ??
    fibers[0]?.id;
  const turns = causes.filter((cause) => cause.fiber === fiber).map(({ taskEventId }) =>
    taskEventId
  );
  const from = fibers.find(({ id }) => id === fiber)?.from;
  return [...new Set(from === undefined ? turns : [from, ...turns])].sort((a, b) => a - b);
}

/** The tasks in which the line ran at which the code waits; undefined if no code waits. */
export function runsOfLine(code: SessionCode, position: number): readonly number[] | undefined {
  const place = code.parked(position).find((parked) =>
    !parked.isOuter && parked.place !== undefined
  )?.place;
  return place === undefined ? undefined : code.runsOf(place);
}

function find(unit: "event" | "task" | "command", lines: readonly EventLine[]): readonly number[] {
  switch (unit) {
    case "event":
      return lines.map(({ eventId }) => eventId);
    case "task":
      return idsOf(lines, (type) => type === "WorkflowTaskStarted");
    case "command":
      return idsOf(lines, (type) => OF_COMMANDS.test(type));
  }
}

/** The position after one step. */
export function step(
  positions: readonly number[],
  from: number,
  by: 1 | -1,
  length: number,
): number {
  let [low, high] = [0, positions.length];
  // Finds the first position after `from`; for a step back, the first that is not before it.
  while (low < high) {
    const middle = (low + high) >> 1;
    if (positions[middle]! > from || (by === -1 && positions[middle] === from)) high = middle;
    else low = middle + 1;
  }
  return by === 1 ? positions[low] ?? length : positions[low - 1] ?? 1;
}
