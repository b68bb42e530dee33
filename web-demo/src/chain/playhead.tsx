// The playhead on a chain. It moves across the boundaries of runs, by pointer and keyboard.
import type { JSX } from "preact";
import type { Chain } from "../store/family.ts";
import { type OpenRun, playing, position } from "../store/state.ts";
import { LETTER_PX } from "../../../ts/run_view/timeline/layout.ts";
import { count } from "../ui/time.ts";
import { chainNumber, findInChain } from "./line.ts";
import { enter } from "./state.ts";

/** Page Up and Page Down move by a part of the chain, but at least by some events. */
const PAGES = 20;
const LEAST_PAGE = 5;

export function ChainPlayhead({ run, chain, x, leastX, mostX, onDrag }: {
  readonly run: OpenRun;
  readonly chain: Chain;
  readonly x: number;
  readonly leastX: number;
  readonly mostX: number;
  onDrag(event: PointerEvent): void;
}): JSX.Element {
  const index = chain.pieces.findIndex((piece) => piece.run === run);
  const at = chainNumber(chain.pieces[index]!, position.value);
  const line = run.model.lines[position.value - 1];
  const where = chain.pieces.length === 1 ? "" : `run ${index + 1}, `;
  const text = `${where}event ${count(position.value)}`;
  const wide = text.length * LETTER_PX + 16;
  const left = Math.max(leastX + 2, Math.min(mostX - wide, x - wide / 2));
  const page = Math.max(LEAST_PAGE, Math.round(chain.events / PAGES));
  const step: { readonly [key: string]: number } = {
    ArrowLeft: at - 1,
    ArrowDown: at - 1,
    ArrowRight: at + 1,
    ArrowUp: at + 1,
    PageDown: at - page,
    PageUp: at + page,
    Home: 1,
    End: chain.events,
  };
  return (
    <div
      class="tl-flag"
      id="playhead"
      role="slider"
      tabIndex={0}
      aria-label={`Position in ${run.model.facts.type} and the runs around it`}
      aria-valuemin={1}
      aria-valuemax={chain.events}
      aria-valuenow={at}
      aria-valuetext={`${where}event ${position.value} of ${run.model.lines.length}, ${
        line?.type ?? ""
      }`}
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
        const { piece, eventId } = findInChain(chain, wanted);
        enter(piece.run, eventId);
      }}
    >
      {text}
    </div>
  );
}
