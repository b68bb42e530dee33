// The list of things that happened.
import type { JSX } from "preact";
import { goTo, type OpenRun, position } from "../app/state.ts";
import { Glyph } from "../ui/glyph.tsx";
import "./events.css";

export function Events({ run }: { run: OpenRun }): JSX.Element {
  return (
    <div class="scroll">
      {run.model.items.map((item) => (
        <button
          type="button"
          key={item.index}
          class={`item ${item.from <= position.value ? "past" : "future"}`}
          aria-current={item.from <= position.value && position.value <= item.to}
          onClick={() => goTo(item.from)}
        >
          <Glyph kind={item.kind} />
          <span class="cut">{item.name}</span>
        </button>
      ))}
    </div>
  );
}
