// Which lines of a long file are rendered, and where to scroll. All lines have the same height.

/** Height of a line in pixels. The style sheet of the code pane has the same number. */
export const LINE = 21;
/** Lines rendered above and below the visible ones, so that scrolling shows no gap. */
const AROUND = 12;

export interface Drawn {
  /** From 1. */
  readonly first: number;
  readonly last: number;
}

/** The lines to render. `first` changes in steps, so that most scrolling renders nothing. */
export function drawnLines(scrollTop: number, height: number, lines: number): Drawn {
  const top = Math.floor(Math.max(0, scrollTop) / LINE);
  const first = Math.max(1, Math.floor(top / AROUND) * AROUND - AROUND + 1);
  return { first, last: Math.min(lines, first + Math.ceil(height / LINE) + 3 * AROUND) };
}

/**
 * The scroll position that shows a line at a third of the height; undefined if the line is visible.
 */
export function scrollTo(line: number, scrollTop: number, height: number): number | undefined {
  const y = (line - 1) * LINE;
  if (y >= scrollTop + LINE && y + 2 * LINE <= scrollTop + height) return undefined;
  return Math.max(0, Math.round(y - height / 3));
}
