// Why the run waits, and its state.
import type { JSX } from "preact";
import { type OpenRun, view } from "../app/state.ts";

export function Inspector({ run }: { run: OpenRun }): JSX.Element {
  const shown = view.value;
  return (
    <section class="section">
      <h3>Why does it wait?</h3>
      <ul class="say">{shown?.open.map(({ label, fiber }) => <li key={`${fiber} ${label}`}>{label}, in {fiber}</li>)}</ul>
      {shown === undefined && <p class="say">{run.verdict.value.state === "replaying" ? "Replaying." : "It was not replayed."}
      </p>}
    </section>
  );
}
