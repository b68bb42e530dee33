// The screen of one run: where the timeline, the events, the code and the inspector are placed.
import type { JSX } from "preact";
import { chainTimeline, isChain } from "../chain/state.ts";
import { CodePane } from "../code/mod.ts";
import { Events } from "../events/mod.ts";
import { Inspector } from "../inspector/mod.ts";
import { NoCodeDetails, NoCodeMiddle } from "../no_code/mod.ts";
import { Timeline } from "../timeline/mod.ts";
import { Strip, Transport } from "../transport/mod.ts";
import { Tabs } from "../ui/tabs.tsx";
import { type ColumnWidths, columnWidths } from "../store/columns.ts";
import { Splitter } from "./splitter.tsx";
import "./open_room.css";
import { type OpenRun, type Pane, pane } from "../store/state.ts";

/** Widths that the user has set; the style sheet has the others. */
const columnStyle = ({ events, why }: ColumnWidths): { [property: string]: string } => ({
  ...(events !== undefined && { "--events-width": `${events}px` }),
  ...(why !== undefined && { "--why-width": `${why}px` }),
});

export function OpenRoom({ run }: { run: OpenRun }): JSX.Element {
  const hasCode = run.code.value !== undefined;
  const tabs: readonly (readonly [Pane, string])[] = [
    ["code", hasCode ? "Code" : "Details"],
    ["events", "Events"],
    ["why", hasCode ? "Why, state" : "Findings"],
  ];
  const Chain = isChain.value ? chainTimeline.value : undefined;
  return (
    <div class="open-room">
      {Chain === undefined ? <Timeline run={run} /> : <Chain run={run} />}
      <Transport run={run} />
      <Tabs class="pane-tabs" label="Panes" tabs={tabs} chosen={pane} />
      <div
        class={hasCode ? "work" : "work no-code"}
        data-pane={pane.value}
        style={columnStyle(columnWidths.value)}
      >
        <section class="column of-events" aria-label="Events">
          <h2 class="unseen">Events</h2>
          <Events run={run} />
        </section>
        <section class="column of-code" aria-label={hasCode ? "Code" : "Details"}>
          <h2 class="unseen">{hasCode ? "Code" : "Details"}</h2>
          {hasCode ? <CodePane run={run} /> : <NoCodeMiddle run={run} />}
        </section>
        <section
          class="column of-why"
          aria-label={hasCode ? "Why and state" : "Findings"}
          tabIndex={0}
        >
          <h2 class="unseen">{hasCode ? "Why and state" : "Findings"}</h2>
          {hasCode ? <Inspector run={run} /> : <NoCodeDetails run={run} />}
        </section>
        <Splitter column="events" />
        <Splitter column="why" />
      </div>
      <Strip run={run} />
    </div>
  );
}
