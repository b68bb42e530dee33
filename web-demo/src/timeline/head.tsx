// The name of a lane; only its glyph on narrow screens.
import type { JSX } from "preact";
import { Glyph } from "../ui/glyph.tsx";
import { still } from "../ui/still.ts";

interface HeadProps {
  readonly kind: Parameters<typeof Glyph>[0]["kind"];
  readonly label: string;
  readonly height: number;
  readonly count?: number;
}

export const Head = still(({ kind, label, height, count }: HeadProps): JSX.Element => {
  return (
    <li
      class="tl-head"
      title={count === undefined ? label : `${label}: ${count}`}
      ref={(element) => element?.style.setProperty("height", `${height}px`)}
    >
      <Glyph kind={kind} />
      <span class="cut">{label}</span>
    </li>
  );
});
