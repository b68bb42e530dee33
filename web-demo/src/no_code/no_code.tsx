// What a history says without code.
import type { JSX } from "preact";
import { CodeButtons } from "../realm/code_doors.tsx";
import { type OpenRun, shownItem } from "../app/state.ts";

export function NoCodeMiddle({ run }: { run: OpenRun }): JSX.Element {
  const item = shownItem.value;
  return (
    <section class="section">
      <h3>{run.model.facts.type}</h3>
      <p class="say">{item?.name}</p>
    </section>
  );
}

export function NoCodeDetails({ run }: { run: OpenRun }): JSX.Element {
  return (
    <section class="section">
      <h3>Code</h3>
      <p class="say">There is no code for {run.model.facts.type} here.</p>
      <CodeButtons />
    </section>
  );
}
