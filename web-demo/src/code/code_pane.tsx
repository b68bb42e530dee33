// The code of the run.
import type { JSX } from "preact";
import type { OpenRun } from "../app/state.ts";

export function CodePane({ run }: { run: OpenRun }): JSX.Element {
  const code = run.code.value;
  const shown = code?.files.find(({ path }) => path === code.entry);
  return <pre class="scroll" tabIndex={0} role="region" aria-label={shown?.path ?? "Code"}>{shown?.text}</pre>;
}
