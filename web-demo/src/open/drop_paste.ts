// Opens files that are dropped anywhere on the page, and text that is pasted outside of fields.
import { type Signal, signal } from "@preact/signals";
import { inTurn, openFiles, openText } from "./open_history.ts";

/** True while files are dragged over the page. */
export const dragging: Signal<boolean> = signal(false);

/**
 * Opens code that was dropped or pasted; set by `realm/`. Both methods return false if the data is
 * not code.
 */
export interface CodeReceiver {
  drop(data: DataTransfer): boolean;
  paste(text: string): boolean;
}
export const codeReceiver: { current: CodeReceiver | undefined } = { current: undefined };

export function watchDrops(): void {
  addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    dragging.value = true;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) dragging.value = false;
  });
  addEventListener("drop", (event) => {
    dragging.value = false;
    const data = event.dataTransfer;
    if (data === null || data.files.length === 0) return;
    event.preventDefault();
    if (codeReceiver.current?.drop(data) !== true) {
      const files = [...data.files];
      inTurn(() => openFiles(files));
    }
  });
}

export function watchPastes(): void {
  document.addEventListener("paste", (event) => {
    if ((event.target as Element).closest("input, textarea, [contenteditable]") !== null) return;
    const data = event.clipboardData;
    if (data === null) return;
    const text = data.getData("text/plain");
    if (data.files.length === 0 && text.trim() === "") return;
    event.preventDefault();
    const files = [...data.files];
    if (files.length > 0) inTurn(() => openFiles(files));
    else if (codeReceiver.current?.paste(text) !== true) inTurn(() => openText(text));
  });
}
