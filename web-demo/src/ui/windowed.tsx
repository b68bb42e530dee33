// A list of which only the rows in sight exist, however long it is. Rows have heights of their own, known beforehand: their places are sums,
// so nothing is measured and nothing moves.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Where rows begin: `tops[i]` of row i, and the height of all as the last one. */
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

/** Rows above and below the sight that are drawn too, so that a fast scroll shows no gap. */
const MARGIN_PX = 240;

interface Props {
  readonly tops: Float64Array;
  /** This row is kept in sight when it changes; undefined: none. */
  readonly current: number | undefined;
  /** Draws a row; `style` says where. */
  row(index: number, top: number, height: number): JSX.Element;
  readonly scroller: { readonly current: HTMLDivElement | null };
}

/** The rows of a scrolling element, which is the caller's: its role and its keys are, too. */
export function WindowedRows({ tops, current, row, scroller }: Props): JSX.Element {
  const [[top, height], setSight] = useState<readonly [number, number]>([0, 600]);
  const count = tops.length - 1;
  /** The rows for which `top` and `height` were looked up: with others the browser may have scrolled. */
  const measured = useRef<Float64Array | undefined>(undefined);
  const look = () => {
    // What is left of a frame may come after the list has gone.
    if (scroller.current === null) return;
    const { scrollTop, clientHeight } = scroller.current;
    setSight((before) => before[0] === scrollTop && before[1] === clientHeight ? before : [scrollTop, clientHeight]);
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
    // A list behind a tab has no height: it is looked at again when it comes into sight.
    if (current === undefined || current === shownFor.current || current >= count || height === 0) return;
    shownFor.current = current;
    const [from, to] = [tops[current]!, tops[current + 1]!];
    // An element that is asked where it stands has its page laid out first, at each step: what it said last is true until it scrolls.
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
    <div class="windowed" role="rowgroup" ref={(element) => element?.style.setProperty("height", `${tops[count] ?? 0}px`)}>
      {rows}
    </div>
  );
}

/** Scrolls only if the row is out of sight, then to a third of the height. */
function keepInSight(element: HTMLElement, from: number, to: number): void {
  const { scrollTop, clientHeight } = element;
  if (clientHeight === 0 || (from >= scrollTop && to <= scrollTop + clientHeight)) return;
  element.scrollTop = from - clientHeight / 3;
}

/**
 * Puts a row where it belongs. (Styles by script: the page's policy forbids style attributes in markup.) Not by a transform: each is a layer
 * of its own to the browser, and a list of them costs at each step.
 */
export const placed = (top: number) => (element: HTMLElement | null): void => {
  if (element !== null) element.style.top = `${top}px`;
};
