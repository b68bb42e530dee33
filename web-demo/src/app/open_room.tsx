// The room of one run. Each slot is filled by the component of its folder; this file knows where they stand, and nothing of what is in them.
import type { JSX } from "preact";
import { CodePane } from "../code/mod.ts";
import { Events } from "../events/mod.ts";
import { Inspector } from "../inspector/mod.ts";
import { NoCodeDetails, NoCodeMiddle } from "../no_code/mod.ts";
import { Timeline } from "../timeline/mod.ts";
import { Transport } from "../transport/mod.ts";
import "./open_room.css";
import { currentRun } from "./state.ts";

export function OpenRoom(): JSX.Element {
  const run = currentRun.value;
  if (run === undefined) return <p class="section say">No history is open. Drop one anywhere on this page.</p>;
  const hasCode = run.code.value !== undefined;
  return (
    <>
      <Timeline run={run} />
      <Transport />
      <div class="work">
        <section class="column" aria-label="Events">
          <Events run={run} />
        </section>
        <section class="column" aria-label={hasCode ? "Code" : "The selected thing"}>
          {hasCode ? <CodePane run={run} /> : <NoCodeMiddle run={run} />}
        </section>
        <section class="column" aria-label={hasCode ? "Why and state" : "Code and findings"}>
          {hasCode ? <Inspector run={run} /> : <NoCodeDetails run={run} />}
        </section>
      </div>
    </>
  );
}
