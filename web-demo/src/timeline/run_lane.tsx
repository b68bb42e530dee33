// The lane of the run: a notch per workflow task, red if it failed, and in yellow what the run
// waits for at the position.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { countLeading } from "../store/ascending.ts";
import { type OpenRun, shownView } from "../store/state.ts";
import { still } from "../ui/still.ts";
import { count } from "../ui/time.ts";
import { LANE_PX } from "../../../ts/run_view/timeline/geometry.ts";
import { LETTER_PX } from "../../../ts/run_view/timeline/layout.ts";
import { type NotchAt, notchesIn, type TaskMark } from "../../../ts/run_view/timeline/notches.ts";
import { cutTo } from "../../../ts/run_view/timeline/texts.ts";
import type { Drawing } from "./shapes.tsx";

export function RunLane(
  { run, drawing, tasks }: { run: OpenRun; drawing: Drawing; tasks: readonly TaskMark[] },
): JSX.Element {
  const { x, position, scale, waitsFromX } = drawing;
  const since = tasks[countLeading(tasks.length, (i) => tasks[i]!.doneAt <= position) - 1];
  const from = since === undefined ? undefined : scale.x(since.doneMs);
  const text = waitText(run, position);
  const room = x - (from ?? x);
  // Only the last position waits until now.
  const until = waitsFromX !== undefined && position === run.model.lines.length
    ? scale.width
    : undefined;
  return (
    <g class="tl-run" transform={`translate(0 0)`}>
      {from !== undefined && text !== "" && (
        <g>
          <title>{`Waits for ${text} since task ${count(since!.number)}`}</title>
          <rect
            class="tl-waits"
            x={from}
            y={4}
            width={Math.max(2, room)}
            height={LANE_PX - 8}
            rx={3}
          />
          {until !== undefined && (
            <rect
              class="tl-waits tl-waiting"
              x={x}
              y={4}
              width={Math.max(0, until - x)}
              height={LANE_PX - 8}
              rx={3}
            />
          )}
          {room > 60 && (
            <text class="tl-wait-text" x={from + 7} y={16}>
              {cutTo(text, Math.floor((room - 10) / LETTER_PX))}
            </text>
          )}
        </g>
      )}
      <Notches drawing={drawing} tasks={tasks} />
    </g>
  );
}

export function Notches(
  { drawing, tasks }: { drawing: Drawing; tasks: readonly TaskMark[] },
): JSX.Element {
  const { fromX, toX, position, scale } = drawing;
  const shown = useMemo(() => notchesIn(tasks, scale, fromX, toX), [tasks, scale, fromX, toX]);
  return (
    <>
      {shown.map(({ task, x }) => (
        <Notch key={task.number} task={task} x={x} isFaint={task.doneAt > position} />
      ))}
    </>
  );
}

const Notch = still(
  ({ task, x, isFaint }: NotchAt & { readonly isFaint: boolean }): JSX.Element => {
    const look = task.isBad ? "tl-notch tl-bad" : isFaint ? "tl-notch tl-faint" : "tl-notch";
    return <rect class={look} x={x - 1} y={LANE_PX - 8} width={2} height={8} />;
  },
);

/** What the run waits for: awaits of the code if it was replayed, else open items. */
function waitText({ model }: OpenRun, position: number): string {
  const labels = shownView.value?.open.map(({ label }) => label) ??
    model.pendingAt(position).map(({ name }) => name);
  const names = [...new Set(labels)];
  return names.slice(0, 3).join(", ") + (names.length > 3 ? ` and ${names.length - 3} more` : "");
}
