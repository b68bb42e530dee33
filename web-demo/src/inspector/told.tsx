// Messages and log lines up to the position.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { goTo, type OpenRun, shownView } from "../store/state.ts";
import { Glyph } from "../ui/glyph.tsx";
import { clock, count } from "../ui/time.ts";
import { digitsOf } from "../../../ts/run_view/rows.ts";
import { lineOfArguments, lineOfValue } from "../../../ts/run_view/value_text.ts";

/** Rows that are shown at first. */
const NEWEST = 5;
const AT_ONCE = 100;
const GLYPHS = { signal: "signal", update: "update", cancelRequest: "external" } as const;

interface FoldingProps {
  readonly title: string;
  readonly id: string;
  readonly length: number;
  /** Called for visible rows only: a run can have ten thousand messages. */
  row(index: number): JSX.Element;
}

function Folding({ title, id, length, row }: FoldingProps): JSX.Element | null {
  const [isOpen, setOpen] = useState(false);
  const [most, setMost] = useState(AT_ONCE);
  if (length === 0) return null;
  const shown = Math.min(length, isOpen ? most : NEWEST);
  return (
    <section class="section" id={id}>
      <h3>
        {title} <span>{count(length)}</span>
      </h3>
      {isOpen && shown < length && (
        <button
          type="button"
          class="button small bare"
          onClick={() => setMost(most + 10 * AT_ONCE)}
        >
          Show earlier ({count(length - shown)})
        </button>
      )}
      <ul class="told">{Array.from({ length: shown }, (_, i) => row(length - shown + i))}</ul>
      {length > NEWEST && (
        <button
          type="button"
          class="button small bare"
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen ? "Show newest only" : `Show earlier (${count(length - NEWEST)})`}
        </button>
      )}
    </section>
  );
}

export function ToldSections({ run }: { run: OpenRun }): JSX.Element {
  const shown = shownView.value;
  const start = run.model.lines[0]?.timeMs ?? 0;
  const time = (eventId: number) => {
    const at = run.model.lines[eventId - 1]?.timeMs;
    return at === undefined ? "" : clock(at - start, digitsOf(run.model));
  };
  const messages = shown?.messages ?? [];
  const logs = shown?.logs ?? [];
  const messageRow = (i: number) => {
    const { kind, name, eventId, state, arguments: args, ...rest } = messages[i]!;
    const result = "result" in rest && rest.result !== undefined
      ? ` → ${lineOfValue(rest.result, 60)}`
      : "";
    const text = `${args.length === 0 ? "" : lineOfArguments(args, 60)}${result}`;
    return (
      <li key={i}>
        <button
          type="button"
          onClick={() => goTo(eventId)}
          title={`${name} ${text}, ${state}, event ${eventId}`}
        >
          <Glyph kind={GLYPHS[kind]} label={kind} />
          <span class="cut grow">
            {name} <span class="mono soft">{text}</span>
          </span>
          <span class={state === "failed" ? "failed" : "soft"}>{state}</span>
          <time class="soft">{time(eventId)}</time>
        </button>
      </li>
    );
  };
  const logRow = (i: number) => {
    const { level, message, fields, eventId } = logs[i]!;
    return (
      <li key={i}>
        <button
          type="button"
          onClick={() => goTo(eventId)}
          title={`${message} ${lineOfValue(fields, 400)}, event ${eventId}`}
        >
          <span class={`log-level ${level}`}>{level}</span>
          <span class="cut grow">
            {message}{" "}
            {Object.keys(fields).length > 0 && (
              <span class="mono soft">{lineOfValue(fields, 80)}</span>
            )}
          </span>
          <time class="soft">{time(eventId)}</time>
        </button>
      </li>
    );
  };
  return (
    <>
      <Folding title="Messages" id="messages" length={messages.length} row={messageRow} />
      <Folding title="Log" id="log" length={logs.length} row={logRow} />
    </>
  );
}
