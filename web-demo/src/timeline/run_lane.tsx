// The run's own lane: a notch for each workflow task, red for one that failed, and in yellow what the run waits for at the position.
import type { JSX } from "preact";
import { type OpenRun, view } from "../app/state.ts";
import { count } from "../ui/time.ts";
import { LANE_PX } from "./geometry.ts";
import { LETTER_PX } from "./layout.ts";
import { cutTo, type Drawing } from "./shapes.tsx";

/** Notches that would touch are one. */
const NOTCH_PX = 3;

export function RunLane({ run, drawing, tasks }: { run: OpenRun; drawing: Drawing; tasks: readonly TaskMark[] }): JSX.Element {
  const { x, position, scale } = drawing;
  const since = tasks.findLast(({ doneAt }) => doneAt <= position);
  const from = since === undefined ? undefined : scale.x(since.doneMs);
  const text = waitText(run, position);
  const room = x - (from ?? x);
  return (
    <g class="tl-run" transform={`translate(0 0)`}>
      {from !== undefined && text !== "" && (
        <g>
          <title>{`Since task ${count(since!.number)} it waits for ${text}`}</title>
          <rect class="tl-waits" x={from} y={4} width={Math.max(2, room)} height={LANE_PX - 8} rx={3} />
          {room > 60 && <text class="tl-wait-text" x={from + 7} y={16}>{cutTo(text, Math.floor((room - 10) / LETTER_PX))}</text>}
        </g>
      )}
      <Notches drawing={drawing} tasks={tasks} />
    </g>
  );
}

export function Notches({ drawing, tasks }: { drawing: Drawing; tasks: readonly TaskMark[] }): JSX.Element {
  const { fromX, toX, position, scale } = drawing;
  const marks: JSX.Element[] = [];
  let last = -Infinity;
  for (const task of tasks) {
    const at = scale.x(task.doneMs);
    if (at > toX) break;
    if (at < fromX || (at - last < NOTCH_PX && !task.isBad)) continue;
    last = at;
    const look = task.isBad ? "tl-notch tl-bad" : task.doneAt <= position ? "tl-notch" : "tl-notch tl-faint";
    marks.push(<rect key={task.number} class={look} x={at - 1} y={LANE_PX - 8} width={2} height={8} />);
  }
  return <>{marks}</>;
}

/** A workflow task that has ended. */
export interface TaskMark {
  readonly number: number;
  readonly doneAt: number;
  readonly doneMs: number;
  readonly isBad: boolean;
}

export function tasksOf({ model }: OpenRun): TaskMark[] {
  const marks: TaskMark[] = [];
  let number = 0;
  for (const { kind, closedBy, endMs, status } of model.items) {
    if (kind !== "task") continue;
    number++;
    if (closedBy !== undefined && endMs !== undefined) {
      marks.push({ number, doneAt: closedBy, doneMs: endMs, isBad: status !== "completed" });
    }
  }
  return marks;
}

/** What it waits for: as the code says where there is code, else what is open. */
function waitText({ model }: OpenRun, position: number): string {
  const labels = view.value?.open.map(({ label }) => label) ?? model.pendingAt(position).map(({ name }) => name);
  const names = [...new Set(labels)];
  return names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
}
