// The run over time.
import type { JSX } from "preact";
import { goTo, length, type OpenRun, position } from "../app/state.ts";
import "./timeline.css";

export function Timeline({ run }: { run: OpenRun }): JSX.Element {
  return (
    <div class="timeline">
      <input
        type="range"
        aria-label={`Position in ${run.model.facts.type}`}
        min={1}
        max={length.value}
        value={position.value}
        onInput={({ currentTarget }) => goTo(Number(currentTarget.value))}
      />
    </div>
  );
}
