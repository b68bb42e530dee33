// One sentence about the state of the run, at the bottom of narrow screens, where the inspector is
// in a tab.
import type { JSX } from "preact";
import type { SessionView } from "temporalex/debug";
import { type OpenRun, shownView } from "../store/state.ts";
import { Glyph } from "../ui/glyph.tsx";

export function Strip({ run }: { run: OpenRun }): JSX.Element {
  const shown = shownView.value;
  const isBad = shown?.problem !== undefined;
  const text = textOf(run, shown);
  return (
    <p class={`strip ${isBad ? "bad" : "why"}`} title={text}>
      <Glyph kind={isBad ? "difference" : "park"} />
      <span class="cut">{text}</span>
    </p>
  );
}

function textOf(run: OpenRun, shown: SessionView | undefined): string {
  if (shown === undefined) {
    if (run.code.value === undefined) return `${run.model.facts.type}, without code`;
    const verdict = run.verdict.value;
    if (verdict.state === "not parsed") return `Not parsed, line ${verdict.line}`;
    return verdict.state === "replaying" ? "Replaying" : "Not replayed";
  }
  if (shown.problem !== undefined) {
    return shown.problem.divergence?.sentence ?? shown.problem.message;
  }
  if (shown.outcome !== undefined) return "The run ended";
  if (shown.task === undefined) return "Not started";
  if (shown.open.length === 0) return "Waits for nothing";
  return `Waits for ${[...new Set(shown.open.map(({ label }) => label))].join(", ")}`;
}
