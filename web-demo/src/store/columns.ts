// Widths of the list of events and of the inspector: those of the style sheet until the user drags
// a splitter; then stored.
import { type Signal, signal } from "@preact/signals";

export type SizedColumn = "events" | "why";

/** In pixels; a column without a width has that of the style sheet. */
export type ColumnWidths = { readonly [column in SizedColumn]?: number };

/** Limits of a width in pixels. The style sheet also limits it to a part of the window. */
export const COLUMN_LIMITS = { least: 180, most: 900 } as const;

const KEY = "temporalex.columns";

const clamped = (px: number): number =>
  Math.round(Math.min(COLUMN_LIMITS.most, Math.max(COLUMN_LIMITS.least, px)));

function kept(): ColumnWidths {
  try {
    const read = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Record<string, unknown> | null;
    const widths = (["events", "why"] as const).flatMap((column) => {
      const width = read?.[column];
      return typeof width === "number" && Number.isFinite(width) ? [[column, clamped(width)]] : [];
    });
    return Object.fromEntries(widths);
  } catch {
    // Storage is blocked, or holds something else.
    return {};
  }
}

export const columnWidths: Signal<ColumnWidths> = signal(kept());

/** `px`: undefined for the width of the style sheet. */
export function setColumnWidth(column: SizedColumn, px: number | undefined): void {
  const { [column]: _, ...others } = columnWidths.peek();
  columnWidths.value = px === undefined ? others : { ...others, [column]: clamped(px) };
}

/** Stores the widths. They last until a reload if storage is blocked. */
export function keepColumnWidths(): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(columnWidths.peek()));
  } catch {
    // Storage is blocked.
  }
}
