// One sentence of where the run stands, at the bottom of narrow screens, where the inspector is behind a tab.
import type { JSX } from "preact";
import { type OpenRun, view } from "../app/state.ts";
import { Glyph } from "../ui/glyph.tsx";

export function Strip({ run }: { run: OpenRun }): JSX.Element {
  const shown = view.value;
  const line = run.model.lines[0];
  const isBad = shown?.problem !== undefined;
  const text = shown === undefined
    ? `${run.model.facts.type}, without code`
    : isBad
    ? shown.problem.message
    : shown.outcome !== undefined
    ? "The run has ended"
    : shown.task === undefined
    ? "No code has run yet"
    : shown.open.length === 0
    ? "It waits for nothing"
    : `Waits for ${[...new Set(shown.open.map(({ label }) => label))].join(", ")}`;
  return (
    <p class={`strip ${isBad ? "bad" : "why"}`} title={text} hidden={line === undefined}>
      <Glyph kind={isBad ? "difference" : "park"} />
      <span class="cut">{text}</span>
    </p>
  );
}
