// The selected thing, or the one at the position: what went in, what came out, how long it took, its ids, and all of it as JSON.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { DebugSession } from "temporalex/debug";
import { goTo, type OpenRun, shownItem } from "../app/state.ts";
import type { RunItem } from "../app/run_model.ts";
import { Glyph, KIND_NAMES } from "../ui/glyph.tsx";
import { type ThingEvent, thingFacts } from "./thing_facts.ts";
import { ValueTree } from "./value_tree.tsx";
import { jsonOf, lineOfValue } from "./value_text.ts";

/** A task of ten thousand commands is not a thing that is read event by event. */
const MOST = 20;

function eventsOf(session: DebugSession, run: OpenRun, item: RunItem): ThingEvent[] {
  return item.eventIds.filter((id) => id <= session.length).slice(0, MOST).map((eventId) => ({
    eventId,
    timeMs: run.model.lines[eventId - 1]?.timeMs,
    details: session.eventDetails(eventId) as ThingEvent["details"],
  }));
}

export function ThingSection({ run }: { run: OpenRun }): JSX.Element | null {
  const item = shownItem.value;
  const session = run.session.value;
  const events = useMemo(() => session === undefined || item === undefined ? [] : eventsOf(session, run, item), [session, item]);
  const facts = useMemo(() => thingFacts(events), [events]);
  const [copied, setCopied] = useState<RunItem | undefined>(undefined);
  if (item === undefined || events.length === 0) return null;
  const copy = () => {
    const json = jsonOf(Object.fromEntries(events.map(({ eventId, details }) => [`event ${eventId}`, details])));
    void navigator.clipboard.writeText(json).then(() => setCopied(item));
  };
  return (
    <section class="section" id="thing">
      <h3>
        <Glyph kind={item.kind} /> {KIND_NAMES[item.kind]} {item.name}
        <span>
          <button type="button" class="link-button soft" onClick={() => goTo(item.from)}>
            {item.from === item.to ? `event ${item.from}` : `events ${item.from}–${item.to}`}
          </button>
        </span>
      </h3>
      <dl class="facts">
        {facts.map(({ name, value, isPlain }) => {
          const text = isPlain ? String(value) : lineOfValue(value, 400);
          return [
            <dt key={`${name} name`}>{name}</dt>,
            <dd key={name} class={isPlain ? name === "Failure" ? "failed" : "cut" : "mono wrap"} title={text}>
              {isPlain || lineOfValue(value, 60) === lineOfValue(value, 4000) ? text : <ValueTree value={value} label={name} />}
            </dd>,
          ];
        })}
      </dl>
      <div class="chips">
        <button type="button" class="button small" onClick={copy}>{copied === item ? "Copied" : "Copy JSON"}</button>
      </div>
    </section>
  );
}
