// A list that renders only its visible rows. Their heights are known, so places are sums: nothing
// is measured and nothing moves.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Top of each row in pixels; the last entry is the height of all rows. */
export function topsOf(heights: Iterable<number>): Float64Array {
  const tops = [0];
  for (const height of heights) tops.push(tops.at(-1)! + height);
  return Float64Array.from(tops);
}

/** Index of the row at a height. */
export function rowAt(tops: Float64Array, y: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle]! <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

/**
 * Height above and below the visible part in which rows are rendered, so that a fast scroll shows
 * no gap.
 */
const MARGIN_PX = 240;

interface Props {
  readonly tops: Float64Array;
  /** This row is scrolled into view when it changes; undefined for no row. */
  readonly current: number | undefined;
  /** Renders a row at `top`. */
  row(index: number, top: number, height: number): JSX.Element;
  readonly scroller: { readonly current: HTMLDivElement | null };
}

/** The rows of a scrolling element. The caller sets the element's role and keys. */
export function WindowedRows({ tops, current, row, scroller }: Props): JSX.Element {
  const [[top, height], setSight] = useState<readonly [number, number]>([0, 600]);
  const count = tops.length - 1;
  /**
   * The rows for which `top` and `height` were measured. For other rows the browser may have
   * scrolled.
   */
  const measured = useRef<Float64Array | undefined>(undefined);
  const look = () => {
    // A scheduled call can come after the list was removed.
    if (scroller.current === null) return;
    const { scrollTop, clientHeight } = scroller.current;
    setSight((before) =>
      before[0] === scrollTop && before[1] === clientHeight ? before : [scrollTop, clientHeight]
    );
  };
  useEffect(() => {
    const element = scroller.current!;
    const sized = new ResizeObserver(look);
    sized.observe(element);
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      sized.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  const shownFor = useRef<number | undefined>(undefined);
  useLayoutEffect(() => {
    // A list in a hidden tab has no height. It is measured when the tab is shown.
    if (current === undefined || current === shownFor.current || current >= count || height === 0) {
      return;
    }
    shownFor.current = current;
    const [from, to] = [tops[current]!, tops[current + 1]!];
    // Reading the scroll position forces a layout at each step, so the known values are used until
    // a scroll event.
    const isKnown = measured.current === tops;
    measured.current = tops;
    if (isKnown && from >= top && to <= top + height) return;
    keepInSight(scroller.current!, from, to);
    look();
  });
  const first = rowAt(tops, top - MARGIN_PX);
  const last = Math.min(count - 1, rowAt(tops, top + height + MARGIN_PX));
  const rows: JSX.Element[] = [];
  for (let i = first; i <= last; i++) rows.push(row(i, tops[i]!, tops[i + 1]! - tops[i]!));
  return (
    <div
      class="windowed"
      role="rowgroup"
      ref={(element) => element?.style.setProperty("height", `${tops[count] ?? 0}px`)}
    >
      {rows}
    </div>
  );
}

/** Scrolls only if the row is not visible, then to a third of the height. */
function keepInSight(element: HTMLElement, from: number, to: number): void {
  const { scrollTop, clientHeight } = element;
  if (clientHeight === 0 || (from >= scrollTop && to <= scrollTop + clientHeight)) return;
  element.scrollTop = from - clientHeight / 3;
}

/**
 * Sets the top of a row. By script, because the page's policy forbids style attributes. Not with a
 * transform: each would be a separate layer of the browser, and many layers slow down each step.
 */
export const placed = (top: number) => (element: HTMLElement | null): void => {
  if (element !== null) element.style.top = `${top}px`;
};
