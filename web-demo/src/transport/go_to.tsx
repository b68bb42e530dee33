// The dialog that goes to an event by its number.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { bindKeys } from "../store/keys.ts";
import { goTo, length, type OpenRun, playing, position } from "../store/state.ts";
import { Dialog } from "../ui/dialog.tsx";
import { count } from "../ui/time.ts";

const isOpen: Signal<boolean> = signal(false);

/** The position in words, which opens the dialog. */
export function GoToEvent({ run }: { run: OpenRun }): JSX.Element {
  useEffect(() =>
    bindKeys([
      { keys: ["g"], group: "Move", label: "Go to event", run: () => (isOpen.value = true) },
    ]), []);
  return (
    <>
      <p id="position" class="where">
        <button type="button" title="Go to event (g)" onClick={() => (isOpen.value = true)}>
          Event {count(position.value)} of {count(length.value)}
        </button>
      </p>
      <Dialog id="go-to" title="Go to event" isOpen={isOpen}>
        <Form run={run} />
      </Dialog>
    </>
  );
}

function Form({ run: { model: { lines } } }: { run: OpenRun }): JSX.Element {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const event = lines[Number(text) - 1];
  return (
    <form
      class="form"
      onSubmit={(submitted) => {
        submitted.preventDefault();
        if (event === undefined) return;
        playing.value = false;
        isOpen.value = false;
        goTo(event.eventId);
      }}
    >
      <label>
        Event, 1 to {count(lines.length)}
        <input
          ref={field}
          inputMode="numeric"
          autocomplete="off"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value.replaceAll(/\D/g, ""))}
        />
      </label>
      <p class="soft cut" role="status">
        {event?.type ?? (text === "" ? "\u00a0" : `This run has no event ${text}.`)}
      </p>
      <p class="button-row">
        <button type="button" class="button" onClick={() => (isOpen.value = false)}>Cancel</button>
        <button type="submit" class="button main" disabled={event === undefined}>Go</button>
      </p>
    </form>
  );
}
