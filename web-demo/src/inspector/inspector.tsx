// The right pane: why the run waits, or the divergence; then state, commands, the selected item,
// messages and log.
import type { JSX } from "preact";
import { type OpenRun, shownView } from "../store/state.ts";
import { findRefusal } from "../code/refusal.ts";
import { Limits } from "./limits.tsx";
import { changedSection } from "./changed.ts";
import { CommandsSection } from "./commands.tsx";
import { DivergenceSections } from "./divergence.tsx";
import "./inspector.css";
import { StateSection } from "./state.tsx";
import { ThingSection } from "./thing.tsx";
import { ToldSections } from "./told.tsx";
import { WhySection } from "./why.tsx";

export function Inspector({ run }: { run: OpenRun }): JSX.Element {
  const shown = shownView.value;
  if (shown === undefined) return <NotReplayed run={run} />;
  const Changed = changedSection.value;
  return (
    <div class="inspector">
      <h2 class="unseen">Why and state</h2>
      {shown.problem === undefined ? <WhySection run={run} /> : <DivergenceSections run={run} />}
      {Changed !== undefined && <Changed run={run} />}
      <StateSection run={run} />
      <CommandsSection run={run} />
      <ThingSection run={run} />
      <ToldSections run={run} />
      <Limits run={run} />
    </div>
  );
}

function NotReplayed({ run }: { run: OpenRun }): JSX.Element {
  const verdict = run.verdict.value;
  const refusal = findRefusal(run);
  const text = verdict.state === "replaying"
    ? "Replaying the history against this code."
    : refusal?.text ??
      "The code has not run yet. Its state and what it waits for are shown after a replay.";
  return (
    <section class="section" id="why">
      <h2 class="unseen">Why and state</h2>
      <h3>{verdict.state === "replaying" ? "Replaying" : "Not replayed"}</h3>
      <p class="say wrap">
        {refusal?.at !== undefined && <b>{refusal.at.path}, line {refusal.at.line}:</b>} {text}
      </p>
      {refusal !== undefined && (
        <p class="second">
          {refusal.at === undefined
            ? "Choose other code above."
            : "Correct it with Edit (e), or choose other code."}{" "}
          The page then replays the history again. The list and the timeline do not need code.
        </p>
      )}
    </section>
  );
}
