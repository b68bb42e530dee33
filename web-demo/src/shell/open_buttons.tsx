// Buttons that open a history: a file dialog, and a dialog for pasted text.
import { type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { Dialog } from "../ui/dialog.tsx";
import { inTurn, openFiles, openText } from "../open/open_history.ts";

interface FileProps {
  readonly class?: string;
  onChosen?(): void;
}

export function FileButton({ class: look = "button", onChosen }: FileProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        class="unseen"
        tabIndex={-1}
        aria-hidden="true"
        onChange={({ currentTarget }) => {
          const files = [...currentTarget.files ?? []];
          currentTarget.value = "";
          if (files.length === 0) return;
          onChosen?.();
          inTurn(() => openFiles(files));
        }}
      />
      <button type="button" class={look} onClick={() => input.current?.click()}>
        Open a history…
      </button>
    </>
  );
}

const pasteIsOpen: Signal<boolean> = signal(false);

export const PasteButton = ({ class: look = "button" }: { class?: string }): JSX.Element => (
  <button type="button" class={look} onClick={() => (pasteIsOpen.value = true)}>Paste</button>
);

/** For keyboard users and touch screens; Ctrl+V anywhere on the page does the same. */
export function PasteDialog(): JSX.Element {
  const text = useRef<HTMLTextAreaElement>(null);
  return (
    <Dialog id="paste" title="Paste a history" isOpen={pasteIsOpen}>
      <form
        class="paste"
        onSubmit={(event) => {
          event.preventDefault();
          pasteIsOpen.value = false;
          const pasted = text.current?.value ?? "";
          inTurn(() => openText(pasted));
        }}
      >
        <label for="paste-text">
          JSON exported by the command line, the UI or an SDK, or base64
        </label>
        <textarea id="paste-text" ref={text} rows={12} spellcheck={false} required />
        <p class="button-row">
          <button type="submit" class="button main">Open</button>
          <button type="button" class="button" onClick={() => (pasteIsOpen.value = false)}>
            Cancel
          </button>
        </p>
      </form>
    </Dialog>
  );
}
