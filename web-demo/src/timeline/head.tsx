// The name of a lane; its glyph alone on narrow screens.
import type { JSX } from "preact";
import { Glyph } from "../ui/glyph.tsx";

export function Head({ kind, label, height, count }: {
  kind: Parameters<typeof Glyph>[0]["kind"];
  label: string;
  height: number;
  count?: number;
}): JSX.Element {
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
}
