// The glyph of a kind as an element.
import { h, type JSX } from "preact";
import { COLOR_OF, type GlyphKind, KIND_NAMES, SHAPES } from "../../../ts/run_view/glyphs.ts";

export { COLOR_OF, type GlyphKind, KIND_NAMES };

/** Names that contain their kind. */
const NAMED = /^(?:timer|transact|procedure|(?:un)?subscribe) |^broadcast$/;
/** "activity charge", "timer arrival". */
export const glyphTitle = (kind: GlyphKind, name: string): string =>
  NAMED.test(name) ? name : `${KIND_NAMES[kind]} ${name}`;

/**
 * The glyph of a kind. Without `label` it is decoration: screen readers read the name next to it.
 */
export function Glyph(
  { kind, label, size = 12 }: { kind: GlyphKind; label?: string; size?: number },
): JSX.Element {
  const named = label === undefined
    ? { "aria-hidden": true as const }
    : { role: "img" as const, "aria-label": label };
  return (
    <svg
      class={`glyph k-${COLOR_OF[kind]}`}
      viewBox="0 0 16 16"
      width={size}
      height={size}
      {...named}
    >
      {glyphShape(kind)}
    </svg>
  );
}

/** The inside of a glyph, 16 by 16, for an existing svg (the timeline). */
export const glyphShape = (kind: GlyphKind): readonly JSX.Element[] =>
  SHAPES[kind].map(([tag, attributes]) => h(tag, attributes));
