// The lines of one file. Only lines near the visible ones are rendered. A step changes the look of
// lines, not their places. The view scrolls only if the line at which the run waits is out of view.
import type { JSX, RefObject } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { blockEnd } from "./block.ts";
import { type ChipRoom, CodeLine, type RedMark } from "./code_line.tsx";
import type { FileFacts, ParkedHere } from "./facts.ts";
import type { HighlightedFile } from "./highlight.ts";
import { lineId } from "./line_id.ts";
import { drawnLines, LINE, scrollTo } from "./line_window.ts";

export interface CodeViewProps {
  readonly path: string;
  readonly file: HighlightedFile;
  readonly facts: FileFacts;
  /**
   * The line at which the run waits, or of the first divergence. Scrolled into view when it
   * changes.
   */
  readonly target: number | undefined;
  /** The line at which a file opens without a target. */
  readonly opensAt: number | undefined;
  /** A change of this number scrolls the target into view, even if it is the same line. */
  readonly call: number;
  readonly red: { readonly line: number; readonly mark: RedMark } | undefined;
  readonly added: ReadonlySet<number>;
  readonly breakpoints: ReadonlyMap<number, "on" | "off">;
  /** The line to which keys apply. */
  readonly active: number;
  readonly startMs: number;
  /** Digits of fractions of a second. */
  readonly digits: number;
  onActive(line: number): void;
  onBreakpoint(line: number): void;
  onMenu(line: number, at: DOMRect): void;
  onValues(line: number, from: HTMLElement): void;
}

/** Width of the gutter, and the largest width of values, in pixels. */
const GUTTER = 80;
const CHARACTER = 7.23;

export function CodeView(props: CodeViewProps): JSX.Element {
  const {
    path,
    file,
    facts,
    target,
    opensAt,
    call,
    red,
    added,
    breakpoints,
    active,
    startMs,
    digits,
  } = props;
  const element = useRef<HTMLDivElement>(null);
  const total = file.lines.length;
  const box = useBox(element, total);
  const blocks = useMemo(
    () => [...facts.parked.keys()].map((line) => [line, blockEnd(file.tokens, line)] as const),
    [
      facts,
      file,
    ],
  );

  const opened = useRef("");
  useLayoutEffect(() => {
    const scroller = element.current!;
    if (scroller.clientHeight === 0) return;
    const wanted = target ?? (opened.current === path ? undefined : opensAt);
    opened.current = path;
    if (wanted === undefined) return;
    const top = scrollTo(wanted, scroller.scrollTop, scroller.clientHeight);
    if (top !== undefined) scroller.scrollTop = top;
  }, [target, path, call]);

  const { first, last } = drawnLines(box.top, box.height, total);
  const lines: JSX.Element[] = [];
  for (let line = first; line <= last; line++) {
    const parked = facts.parked.get(line) ?? [];
    const end = GUTTER + file.lines[line - 1]!.length * CHARACTER;
    const mark = red?.line === line ? red.mark : undefined;
    lines.push(
      <CodeLine
        key={line}
        line={line}
        pieces={file.pieces(line)}
        hits={facts.hits(line)}
        canRun={facts.canRun(line)}
        parked={parked}
        isInBlock={blocks.some(([from, to]) => line > from && line <= to)}
        values={facts.values(line)}
        red={mark}
        isAdded={added.has(line)}
        breakpoint={breakpoints.get(line)}
        isActive={line === active}
        isLong={end > box.width * 0.6}
        chip={chipRoom(box.width - end, mark, parked[0])}
        {...{ startMs, digits }}
      />,
    );
  }

  const onClick = (event: MouseEvent) => {
    const from = event.target as HTMLElement;
    const { breakpoint, values, menu } = from.closest<HTMLElement>("button")?.dataset ?? {};
    if (breakpoint !== undefined) return props.onBreakpoint(Number(breakpoint));
    if (values !== undefined) return props.onValues(Number(values), from.closest("button")!);
    const line = Number(from.closest<HTMLElement>("[data-line]")?.dataset["line"] ?? 0);
    if (line === 0) return;
    if (menu !== undefined) return props.onMenu(line, from.getBoundingClientRect());
    // A click that ends a text selection does not change the active line.
    if (getSelection()?.type !== "Range") props.onActive(line);
  };
  const moveActive = (event: KeyboardEvent, line: number) => {
    event.preventDefault();
    event.stopPropagation();
    const next = Math.max(1, Math.min(total, line));
    props.onActive(next);
    const scroller = element.current!;
    const y = (next - 1) * LINE;
    if (y < scroller.scrollTop) scroller.scrollTop = y;
    else if (y + 2 * LINE > scroller.scrollTop + scroller.clientHeight) {
      scroller.scrollTop = y + 2 * LINE - scroller.clientHeight;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    if (event.key === "ArrowDown") moveActive(event, active + 1);
    else if (event.key === "ArrowUp") moveActive(event, active - 1);
    else if (event.key === "Enter" && event.target === element.current) {
      event.preventDefault();
      const row = document.getElementById(lineId(active));
      if (row !== null) props.onMenu(active, row.querySelector(".source")!.getBoundingClientRect());
    }
  };
  return (
    <div
      class="code-view"
      ref={element}
      role="grid"
      tabIndex={0}
      aria-label={path}
      style={{ "--pane-width": `${box.width}px` }}
      aria-rowcount={total}
      aria-activedescendant={active >= first && active <= last ? lineId(active) : undefined}
      onClick={onClick}
      onKeyDown={onKeyDown}
    >
      <div
        class="code-lines"
        role="presentation"
        style={{ minWidth: `max(100%, calc(${file.columns}ch + ${GUTTER + 32}px))` }}
      >
        <div role="presentation" style={{ height: `${(first - 1) * LINE}px` }} />
        {lines}
        <div role="presentation" style={{ height: `${(total - last) * LINE}px` }} />
      </div>
    </div>
  );
}

/** Width of a letter in a chip, and of the rest of the chip, in pixels. */
const CHIP_LETTER = 6.6;
const CHIP_REST = 72;

/** A chip must not cover the call that it describes: the longer the line, the shorter the chip. */
function chipRoom(
  room: number,
  red: RedMark | undefined,
  parked: ParkedHere | undefined,
): ChipRoom {
  const [short, long] = red !== undefined
    ? [red.more, `${red.text} ${red.more}`]
    : [parked?.waitsFor ?? "", `waits for ${parked?.waitsFor} since 0:00.000`];
  const fits = (text: string) => CHIP_REST + text.length * CHIP_LETTER <= room;
  return fits(long) ? "all" : short !== "" && fits(short) ? "short" : "least";
}

interface Box {
  readonly top: number;
  readonly height: number;
  readonly width: number;
}

/** The visible part of a scroller. Changes when other lines have to be rendered. */
function useBox(element: RefObject<HTMLDivElement | null>, total: number): Box {
  const [box, setBox] = useState<Box>({ top: 0, height: 600, width: 800 });
  useLayoutEffect(() => {
    const scroller = element.current!;
    const measure = () => {
      const next = {
        top: scroller.scrollTop,
        height: scroller.clientHeight,
        width: scroller.clientWidth,
      };
      setBox((old) => {
        const [a, b] = [
          drawnLines(old.top, old.height, total),
          drawnLines(next.top, next.height, total),
        ];
        return a.first === b.first && a.last === b.last && old.width === next.width &&
            old.height === next.height
          ? old
          : next;
      });
    };
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(scroller);
    scroller.addEventListener("scroll", measure, { passive: true });
    return () => {
      sizes.disconnect();
      scroller.removeEventListener("scroll", measure);
    };
  }, [total]);

  return box;
}
