// What part of the timeline is in sight, and what stays there when it is zoomed or the position moves.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { position } from "../app/state.ts";
import type { Geometry } from "../../../ts/run_view/timeline/geometry.ts";
import { zoom, zoomBy } from "./view.ts";

type Scroller = { readonly current: HTMLDivElement | null };

export interface Sight {
  /** Pixels that are scrolled away at the left. */
  readonly left: number;
  readonly wide: number;
  /** Where the pointer was that zooms, from the left of the element; undefined: a key or a button does. */
  readonly held: { current: number | undefined };
  look(): void;
}

/** Follows the size and the scrolling of an element; its wheel zooms with Ctrl. */
export function useSight(scroller: Scroller): Sight {
  const [[left, wide], setSight] = useState<readonly [number, number]>([0, 0]);
  const held = useRef<number | undefined>(undefined);
  const look = () => {
    if (scroller.current === null) return;
    const { scrollLeft, clientWidth } = scroller.current;
    setSight((before) => before[0] === scrollLeft && before[1] === clientWidth ? before : [scrollLeft, clientWidth]);
  };
  useLayoutEffect(() => {
    const element = scroller.current!;
    const sized = new ResizeObserver(look);
    sized.observe(element);
    look();
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      held.current = event.clientX - element.getBoundingClientRect().left;
      zoomBy(event.deltaY < 0 ? 0.5 : -0.5);
    };
    element.addEventListener("wheel", wheel, { passive: false });
    return () => {
      sized.disconnect();
      element.removeEventListener("wheel", wheel);
    };
  }, []);
  return { left, wide, held, look };
}

interface Kept extends Pick<Sight, "held" | "look"> {
  readonly scroller: Scroller;
  readonly geometry: Geometry;
  /** Time of each event. */
  readonly clock: Float64Array;
  /** Of the playhead. */
  readonly x: number;
  /** Width of the heads of lanes. */
  readonly head: number;
  /** Pixels before the first event. */
  readonly before: number;
}

export function useKept({ scroller, held, look, geometry, clock, x, head, before }: Kept): void {
  const last = useRef(geometry);
  // Zooming keeps what is under the pointer, or the playhead, where it is.
  useLayoutEffect(() => {
    const element = scroller.current!;
    const { scale } = geometry;
    if (last.current.scale.width !== scale.width) {
      const at = held.current === undefined ? undefined : held.current + element.scrollLeft - before;
      const ms = at === undefined ? clock[position.peek() - 1] ?? 0 : last.current.scale.ms(at);
      const place = held.current ?? element.clientWidth / 2;
      element.scrollLeft = scale.x(ms) + before - place;
      held.current = undefined;
      look();
    }
    last.current = geometry;
  }, [geometry]);
  // A step keeps the playhead in sight.
  useLayoutEffect(() => {
    // Asked where it scrolled, a browser lays the page out first: not where it cannot scroll.
    if (zoom.peek() === 1) return;
    const element = scroller.current!;
    const at = x + before - element.scrollLeft;
    if (at < head || at > element.clientWidth - 20) {
      element.scrollLeft = x - (element.clientWidth - head) / 3;
    }
  }, [position.value]);
}
