// The flag of the playhead: a slider for the keyboard, and a handle for the pointer.
import type { JSX } from "preact";
import { digitsOf } from "../../../ts/run_view/rows.ts";
import { goTo, type OpenRun, playing, position } from "../store/state.ts";
import { clock, count } from "../ui/time.ts";
import { LETTER_PX } from "../../../ts/run_view/timeline/layout.ts";

/** Page Up and Page Down move by a part of the run, but at least by some events. */
const PAGES = 20;
const LEAST_PAGE = 5;

interface Props {
  readonly run: OpenRun;
  readonly x: number;
  /** Leftmost place of the flag: it does not move behind the heads of the lanes. */
  readonly leastX: number;
  /** Rightmost place of the flag. */
  readonly mostX: number;
  readonly last: number;
  onDrag(event: PointerEvent): void;
}

export function Playhead({ run, x, leastX, mostX, last, onDrag }: Props): JSX.Element {
  const at = position.value;
  const line = run.model.lines[at - 1];
  const start = run.model.facts.startMs;
  const since = start === undefined || line?.timeMs === undefined
    ? ""
    : `, ${clock(line.timeMs - start, digitsOf(run.model))} after the start`;
  const text = `event ${count(at)}`;
  const wide = text.length * LETTER_PX + 16;
  const left = Math.max(leastX + 2, Math.min(mostX - wide, x - wide / 2));
  const page = Math.max(LEAST_PAGE, Math.round(last / PAGES));
  const step: { readonly [key: string]: number } = {
    ArrowLeft: at - 1,
    ArrowDown: at - 1,
    ArrowRight: at + 1,
    ArrowUp: at + 1,
    PageDown: at - page,
    PageUp: at + page,
    Home: 1,
    End: last,
  };
  return (
    <div
      class="tl-flag"
      id="playhead"
      role="slider"
      tabIndex={0}
      aria-label={`Position in ${run.model.facts.type}`}
      aria-valuemin={1}
      aria-valuemax={last}
      aria-valuenow={at}
      aria-valuetext={`event ${at} of ${last}, ${line?.type ?? ""}${since}`}
      ref={(element) => element?.style.setProperty("transform", `translateX(${left}px)`)}
      onPointerDown={(event) => {
        event.stopPropagation();
        onDrag(event);
      }}
      onKeyDown={(event) => {
        const wanted = step[event.key];
        if (
          wanted === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey
        ) return;
        event.preventDefault();
        playing.value = false;
        goTo(wanted);
      }}
    >
      {text}
    </div>
  );
}
