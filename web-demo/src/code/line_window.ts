// Which lines of a long file are drawn, and where to scroll. All lines have one height, so that this is arithmetic.

/** Height of a line in px; the style sheet of the code pane has the same number. */
export const LINE = 21;
/** Lines drawn above and below those in sight, so that scrolling shows no gap. */
const AROUND = 12;

export interface Drawn {
  /** From 1. */
  readonly first: number;
  readonly last: number;
}

/** The lines to draw. `first` moves in steps, so that most scrolling draws nothing again. */
export function drawnLines(scrollTop: number, height: number, lines: number): Drawn {
  const top = Math.floor(Math.max(0, scrollTop) / LINE);
  const first = Math.max(1, Math.floor(top / AROUND) * AROUND - AROUND + 1);
  return { first, last: Math.min(lines, first + Math.ceil(height / LINE) + 3 * AROUND) };
}

/** Where to scroll so that a line is in sight: undefined where it is already, else such that it stands at a third of the height. */
export function scrollTo(line: number, scrollTop: number, height: number): number | undefined {
  const y = (line - 1) * LINE;
  if (y >= scrollTop + LINE && y + 2 * LINE <= scrollTop + height) return undefined;
  return Math.max(0, Math.round(y - height / 3));
}
