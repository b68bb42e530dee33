// The list of breakpoints with their next positions, and the form for breakpoints without a line.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { goTo, type OpenRun, position } from "../store/state.ts";
import { Dialog } from "../ui/dialog.tsx";
import {
  addBreakpoint,
  type Breakpoint,
  type BreakpointKind,
  breakpoints,
  breakpointText,
  removeBreakpoint,
  switchBreakpoint,
} from "./breakpoints.ts";
import { findBreakpoint } from "./code_facts.ts";
import { runToStop } from "./stops.ts";

const isOpen: Signal<boolean> = signal(false);

export function BreakpointsButton(): JSX.Element {
  const all = breakpoints.value;
  const label = `Breakpoints: ${all.length === 0 ? "none" : all.length}`;
  return (
    <button
      type="button"
      class="button small bare"
      id="breakpoints"
      aria-label={label}
      title={label}
      onClick={() => (isOpen.value = true)}
    >
      <span class={`breakpoint-sign ${all.some((one) => one.isOn) ? "on" : ""}`} />{" "}
      {all.length > 0 && all.length}
    </button>
  );
}

const KINDS: readonly (readonly [Exclude<BreakpointKind, "line">, string, string])[] = [
  ["event", "an event", "TimerFired, or part of a name"],
  ["command", "a command", "ScheduleActivity"],
  ["when", "a condition", "state.items.length > 3"],
];

function Row({ run, one }: { run: OpenRun; one: Breakpoint }): JSX.Element {
  const text = breakpointText(one);
  let next: number | undefined;
  let before: number | undefined;
  let wrong = "";
  try {
    next = findBreakpoint(run, one, position.value, 1);
    before = findBreakpoint(run, one, position.value, -1);
  } catch (error) {
    wrong = (error as Error).message;
  }
  const jump = (label: string, to: number | undefined) => (
    <button
      type="button"
      class="button small"
      aria-disabled={to === undefined}
      onClick={() => to !== undefined && goTo(to)}
    >
      {to === undefined ? `none ${label}` : `${label}: event ${to}`}
    </button>
  );
  return (
    <li class="breakpoint-row">
      <label class="grow cut" title={text}>
        <input type="checkbox" checked={one.isOn} onChange={() => switchBreakpoint(one.id)} />{" "}
        <span class="mono">{text}</span>
      </label>
      {wrong === ""
        ? <>{jump("before", before)} {jump("after", next)}</>
        : <span class="failed">{wrong}</span>}
      <button
        type="button"
        class="button small bare"
        aria-label={`Remove: ${text}`}
        onClick={() => removeBreakpoint(one.id)}
      >
        Remove
      </button>
    </li>
  );
}

export function Breakpoints({ run }: { run: OpenRun }): JSX.Element {
  const [kind, setKind] = useState<Exclude<BreakpointKind, "line">>("event");
  const [text, setText] = useState("");
  const hint = KINDS.find(([name]) => name === kind)![2];
  return (
    <Dialog id="breakpoints-sheet" title="Breakpoints" isOpen={isOpen}>
      <ul class="breakpoint-list">
        {breakpoints.value.map((one) => <Row key={one.id} run={run} one={one} />)}
        {breakpoints.value.length === 0 && (
          <li class="soft">
            None yet. A click on a line number sets one; events, commands and conditions are added
            below.
          </li>
        )}
      </ul>
      <form
        class="breakpoint-form"
        method="dialog"
        onSubmit={(event) => {
          event.preventDefault();
          addBreakpoint(kind, text);
          setText("");
        }}
      >
        <label>
          Stop at{" "}
          <select
            value={kind}
            onChange={(event) =>
              setKind(event.currentTarget.value as Exclude<BreakpointKind, "line">)}
          >
            {KINDS.map(([name, label]) => <option key={name} value={name}>{label}</option>)}
          </select>
        </label>
        <input
          class="grow"
          aria-label="Event, command or condition"
          placeholder={hint}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button">Add</button>
      </form>
      <div class="dialog-ends">
        <button type="button" class="button small" onClick={() => runToStop(run, -1)}>
          Previous breakpoint
        </button>
        <button type="button" class="button small" onClick={() => runToStop(run, 1)}>
          Next breakpoint
        </button>
        <span class="grow" />
        <button type="button" class="button" onClick={() => (isOpen.value = false)}>Close</button>
      </div>
    </Dialog>
  );
}
