// Rooms, what is known of the run, the verdict, the actions. One line; facts give way first.
import type { JSX } from "preact";
import "./top_bar.css";
import { currentRun } from "./state.ts";
import { switchTheme } from "./theme.ts";
import { VerdictChip } from "./verdict.tsx";

export function TopBar(): JSX.Element {
  const run = currentRun.value;
  return (
    <header class="top">
      <p class="brand">temporalex</p>
      <div class="facts-line">
        {run !== undefined && (
          <>
            <h1 class="run-name">{run.model.facts.type}</h1>
            <span class="run-id" title="workflow id">{run.model.facts.id}</span>
          </>
        )}
      </div>
      {run !== undefined && <VerdictChip verdict={run.verdict.value} />}
      <button type="button" class="icon-button" aria-label="Light or dark" title="Light or dark" onClick={switchTheme}>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.5" />
          <path d="M8 2.4a5.6 5.6 0 0 1 0 11.2z" fill="currentColor" />
        </svg>
      </button>
    </header>
  );
}
