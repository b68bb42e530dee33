// The border between two columns: drag it, or press the arrow keys, to change the width of the outer
// column. Enter and a double click restore the width of the style sheet.
import type { JSX, TargetedKeyboardEvent, TargetedPointerEvent } from "preact";
import { useRef } from "preact/hooks";
import {
  COLUMN_LIMITS,
  columnWidths,
  keepColumnWidths,
  setColumnWidth,
  type SizedColumn,
} from "../store/columns.ts";

/** Pixels of an arrow key. */
const STEP_PX = 24;

const LABELS = { events: "Width of the events", why: "Width of the inspector" } as const;

export function Splitter({ column }: { column: SizedColumn }): JSX.Element {
  const element = useRef<HTMLDivElement>(null);
  // The list is left of its splitter, the inspector right of it.
  const sign = column === "events" ? 1 : -1;
  const widthNow = (): number =>
    element.current?.parentElement?.querySelector(`.column.of-${column}`)?.getBoundingClientRect()
      .width ?? 0;
  const width = columnWidths.value[column];
  const onPointerDown = (down: TargetedPointerEvent<HTMLDivElement>) => {
    if (down.button !== 0) return;
    const { currentTarget: handle, pointerId, clientX } = down;
    const before = widthNow();
    down.preventDefault();
    handle.focus();
    handle.setPointerCapture(pointerId);
    const drag = ({ clientX: x }: PointerEvent) =>
      setColumnWidth(column, before + sign * (x - clientX));
    const end = () => {
      handle.removeEventListener("pointermove", drag);
      keepColumnWidths();
    };
    handle.addEventListener("pointermove", drag);
    handle.addEventListener("lostpointercapture", end, { once: true });
  };
  const restore = () => {
    setColumnWidth(column, undefined);
    keepColumnWidths();
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const { key, altKey, ctrlKey, metaKey } = event;
    if (altKey || ctrlKey || metaKey) return;
    const by = key === "ArrowRight" ? STEP_PX : key === "ArrowLeft" ? -STEP_PX : 0;
    if (by === 0 && key !== "Enter") return;
    // The arrow keys move the run elsewhere.
    event.preventDefault();
    event.stopPropagation();
    if (by === 0) return restore();
    setColumnWidth(column, widthNow() + sign * by);
    keepColumnWidths();
  };
  return (
    <div
      ref={element}
      class={`splitter next-to-${column}`}
      role="separator"
      aria-orientation="vertical"
      aria-label={LABELS[column]}
      aria-valuemin={COLUMN_LIMITS.least}
      aria-valuemax={COLUMN_LIMITS.most}
      aria-valuenow={width ?? COLUMN_LIMITS.least}
      aria-valuetext={width === undefined ? "default" : `${width} pixels`}
      title="Drag to change the width; double click to reset it"
      tabIndex={0}
      onPointerDown={onPointerDown}
      onDblClick={restore}
      onKeyDown={onKeyDown}
    />
  );
}
