// All values that were recorded at a line, in full: next to the line, or as a sheet at the bottom
// of narrow screens.
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { goTo } from "../store/state.ts";
import { ValueTree } from "../ui/value_tree.tsx";
import type { LineValue } from "./facts.ts";
import { Badge } from "./code_line.tsx";

export interface OpenSheet {
  readonly line: number;
  readonly top: number;
  readonly bottom: number;
}

const KINDS: { readonly [kind: string]: string } = {
  local: "variable",
  result: "result",
  arguments: "arguments",
  message: "message",
  answer: "answer",
  published: "published state",
  accumulator: "state of the receive",
  log: "log",
  failure: "failure",
  clock: "workflow time",
  random: "random number of the run",
  operand: "operand of a test",
  refused: "refused",
  logPoint: "log point",
};

/** Why a value comes from the run instead of the host. */
const REASONS: { readonly [kind: string]: string } = {
  clock: "The host's clock differs at each replay. This is the time of the workflow task.",
  random: "The host's entropy differs at each replay. This value comes from the seed of the run.",
  changed:
    "Replays do not compare this value. Running workflows keep it; new workflows use the new value.",
  refused: "The result would differ at each replay.",
};

interface Props {
  readonly sheet: Signal<OpenSheet | undefined>;
  readonly values: readonly LineValue[];
  onClose(): void;
}

export function ValuesSheet({ sheet, values, onClose }: Props): JSX.Element | null {
  const element = useRef<HTMLDivElement>(null);
  const open = sheet.value;
  const close = () => {
    sheet.value = undefined;
    onClose();
  };
  useLayoutEffect(() => {
    const box = element.current;
    if (open === undefined || box === null) return;
    // On narrow screens the style sheet sets the place.
    const { height } = box.getBoundingClientRect();
    const below = open.bottom + height < innerHeight - 8;
    box.style.setProperty(
      "--sheet-top",
      `${Math.max(8, below ? open.bottom + 2 : open.top - height - 2)}px`,
    );
    box.focus();
  }, [open]);
  useEffect(() => {
    if (open === undefined) return;
    const away = (event: Event) => {
      if (!element.current?.contains(event.target as Node)) sheet.value = undefined;
    };
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [open]);
  if (open === undefined) return null;
  return (
    <div
      class="values-sheet"
      role="dialog"
      aria-label={`Values at line ${open.line}`}
      tabIndex={-1}
      ref={element}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        event.stopPropagation();
        close();
      }}
    >
      <header>
        <h3>Line {open.line}</h3>
        <button type="button" class="button small bare" onClick={close}>Close</button>
      </header>
      {values.map((one, i) => (
        <section key={`${one.kind} ${one.name} ${i}`}>
          <h4>
            {one.badge !== undefined && <Badge badge={one.badge} quiet />}
            <b>{one.name === "" ? KINDS[one.kind] ?? one.kind : one.name}</b>
            {one.name !== "" && <span class="soft">{KINDS[one.kind] ?? one.kind}</span>}
            <button type="button" class="link-button" onClick={() => goTo(one.eventId)}>
              event {one.eventId}
            </button>
          </h4>
          {REASONS[one.kind] !== undefined && <p class="soft">{REASONS[one.kind]}</p>}
          {one.before !== undefined && (
            <p class="mono">
              <s>{one.before}</s>
            </p>
          )}
          {one.value === undefined ? <p class="mono wrap">{one.text}</p> : (
            <ValueTree
              value={one.value}
              label={one.name === "" ? KINDS[one.kind] ?? one.kind : one.name}
            />
          )}
        </section>
      ))}
      {values.length === 0 && <p class="soft">No values were recorded here up to this position.</p>}
    </div>
  );
}
