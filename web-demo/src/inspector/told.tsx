// Messages that came in and lines of the log, up to the position.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { goTo, type OpenRun, view } from "../app/state.ts";
import { Glyph } from "../ui/glyph.tsx";
import { clock } from "../ui/time.ts";
import { lineOfArguments, lineOfValue } from "./value_text.ts";

/** The newest of them; the rest is asked for. */
const NEWEST = 5;
const GLYPHS = { signal: "signal", update: "update", cancelRequest: "external" } as const;

function Folding({ title, id, rows }: { title: string; id: string; rows: readonly JSX.Element[] }): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  if (rows.length === 0) return null;
  return (
    <section class="section" id={id}>
      <h3>
        {title} <span>{rows.length}</span>
      </h3>
      <ul class="told">{isOpen ? rows : rows.slice(-NEWEST)}</ul>
      {rows.length > NEWEST && (
        <button
          type="button"
          class="button small bare"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "The newest alone" : `${rows.length - NEWEST} before them`}
        </button>
      )}
    </section>
  );
}

export function ToldSections({ run }: { run: OpenRun }): JSX.Element {
  const shown = view.value;
  const start = run.model.lines[0]?.timeMs ?? 0;
  const time = (eventId: number) => {
    const at = run.model.lines[eventId - 1]?.timeMs;
    return at === undefined ? "" : clock(at - start);
  };
  const messages = (shown?.messages ?? []).map(({ kind, name, eventId, state, arguments: args, ...rest }, i) => {
    const result = "result" in rest && rest.result !== undefined ? ` → ${lineOfValue(rest.result, 60)}` : "";
    const text = `${args.length === 0 ? "" : lineOfArguments(args, 60)}${result}`;
    return (
      <li key={i}>
        <button type="button" onClick={() => goTo(eventId)} title={`${name} ${text}, ${state}, event ${eventId}`}>
          <Glyph kind={GLYPHS[kind]} label={kind} />
          <span class="cut grow">
            {name} <span class="mono soft">{text}</span>
          </span>
          <span class={state === "failed" ? "failed" : "soft"}>{state}</span>
          <time class="soft">{time(eventId)}</time>
        </button>
      </li>
    );
  });
  const logs = (shown?.logs ?? []).map(({ level, message, fields, eventId }, i) => (
    <li key={i}>
      <button type="button" onClick={() => goTo(eventId)} title={`${message} ${lineOfValue(fields, 400)}, event ${eventId}`}>
        <span class={`log-level ${level}`}>{level}</span>
        <span class="cut grow">
          {message} {Object.keys(fields).length > 0 && <span class="mono soft">{lineOfValue(fields, 80)}</span>}
        </span>
        <time class="soft">{time(eventId)}</time>
      </button>
    </li>
  ));
  return (
    <>
      <Folding title="Messages" id="messages" rows={messages} />
      <Folding title="Log" id="log" rows={logs} />
    </>
  );
}
