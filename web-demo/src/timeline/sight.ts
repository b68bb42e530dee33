// The visible part of the timeline, and what stays visible when the zoom or the position changes.
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { position } from "../store/state.ts";
import type { Geometry } from "../../../ts/run_view/timeline/geometry.ts";
import { zoom, zoomBy } from "./view.ts";

type Scroller = { readonly current: HTMLDivElement | null };

export interface Sight {
  /** Pixels scrolled at the left. */
  readonly left: number;
  readonly wide: number;
  /** The pointer of a zoom, from the left of the element; undefined for a zoom by key or button. */
  readonly held: { current: number | undefined };
  look(): void;
}

/** Follows the size and scrolling of an element. Its wheel zooms while Ctrl is pressed. */
export function useSight(scroller: Scroller): Sight {
  const [[left, wide], setSight] = useState<readonly [number, number]>([0, 0]);
  const held = useRef<number | undefined>(undefined);
  const look = () => {
    if (scroller.current === null) return;
    const { scrollLeft, clientWidth } = scroller.current;
    setSight((before) =>
      before[0] === scrollLeft && before[1] === clientWidth ? before : [scrollLeft, clientWidth]
    );
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
  /** Position of the playhead. */
  readonly x: number;
  /** Width of the heads of lanes. */
  readonly head: number;
  /** Pixels before the first event. */
  readonly before: number;
}

export function useKept({ scroller, held, look, geometry, clock, x, head, before }: Kept): void {
  const last = useRef(geometry);
  // A zoom keeps the place under the pointer, or the playhead.
  useLayoutEffect(() => {
    const element = scroller.current!;
    const { scale } = geometry;
    if (last.current.scale.width !== scale.width) {
      const at = held.current === undefined
        ? undefined
        : held.current + element.scrollLeft - before;
      const ms = at === undefined ? clock[position.peek() - 1] ?? 0 : last.current.scale.ms(at);
      const place = held.current ?? element.clientWidth / 2;
      element.scrollLeft = scale.x(ms) + before - place;
      held.current = undefined;
      look();
    }
    last.current = geometry;
  }, [geometry]);
  // A step keeps the playhead visible.
  useLayoutEffect(() => {
    // Reading the scroll position forces a layout, so it is not read where the element cannot
    // scroll.
    if (zoom.peek() === 1) return;
    const element = scroller.current!;
    const at = x + before - element.scrollLeft;
    if (at < head || at > element.clientWidth - 20) {
      element.scrollLeft = x - (element.clientWidth - head) / 3;
    }
  }, [position.value]);
}
