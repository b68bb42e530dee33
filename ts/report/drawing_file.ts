// The timeline as a standalone SVG file with its colors, for documents and tickets. It contains
// names and times, no values.
import type { RunModel } from "../debug/run/types.ts";
import { DARK, LIGHT } from "./colors.ts";
import { drawn } from "./drawing.ts";
import { looksAsAttributes } from "./drawing_looks.ts";
import { markup } from "./html.ts";
import { count, lasting } from "../run_view/time.ts";
import { cutTo } from "../run_view/timeline/texts.ts";

const WIDTH = 1380;
const TITLE_PX = 40;
const MOST_LETTERS = 80;

export interface DrawingFileOptions {
  readonly isDark: boolean;
  /** Cut out idle stretches. */
  readonly cuts: boolean;
  /** The time at which an open run was read, in ms; undefined: unknown. */
  readonly nowMs?: number | undefined;
}

/** Returns the text of the SVG file. */
export function drawingFile(model: RunModel, { isDark, cuts, nowMs }: DrawingFileOptions): string {
  const { type, id, status, startMs, endMs } = model.facts;
  const colors = isDark ? DARK : LIGHT;
  const { inner, height } = drawn(model, { width: WIDTH - 12, problem: 0, cuts, nowMs });
  const took = startMs === undefined || endMs === undefined ? "" : `, ${lasting(endMs - startMs)}`;
  const began = startMs === undefined ? "" : `, began ${new Date(startMs).toISOString()}`;
  const [full, title] = [height + TITLE_PX + 8, `${type}  ${cutTo(id, MOST_LETTERS)}`];
  const { text } =
    markup`<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${full}" viewBox="0 0 ${WIDTH} ${full}"
 font-family="system-ui, sans-serif" font-size="11.5" color="${colors["ink"]!}">
<title>${title}</title><rect width="100%" height="100%" fill="${colors["sheet"]!}"/>
<text x="12" y="25" font-size="14" font-weight="650" class="name">${title}</text>
<text x="${WIDTH - 12}" y="25" text-anchor="end" class="tick">${status}, ${
      count(model.lines.length)
    } events${took}${began}</text>
<g transform="translate(10 ${TITLE_PX})">${inner}</g></svg>
`;
  return looksAsAttributes(text, colors);
}
