// The button that opens and closes the branches of a run.
import type { JSX } from "preact";
import type { OpenRun } from "../store/state.ts";
import { Glyph } from "../ui/glyph.tsx";
import { isComparing } from "../compare/mod.ts";
import { openWhatIf, whatIfRun } from "./mod.ts";

export function WhatIfButton({ run }: { run: OpenRun }): JSX.Element | null {
  // The comparison of runs has its own Back button.
  if (isComparing.value) return null;
  const isOpen = whatIfRun.value === run;
  return isOpen
    ? (
      <button
        type="button"
        id="what-if-back"
        class="button bare"
        onClick={() => (whatIfRun.value = undefined)}
      >
        Back to the run
      </button>
    )
    : (
      <button type="button" id="what-if" class="button bare" onClick={() => openWhatIf(run)}>
        <Glyph kind="whatIf" /> What if
      </button>
    );
}
