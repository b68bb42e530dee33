// Opens a line in the reader's editor. Set by `temporalex debug`; the static page cannot open an
// editor.
import { type Signal, signal } from "@preact/signals";

/** Undefined if no editor can be opened. */
export const openInEditor: Signal<((path: string, line: number) => void) | undefined> = signal<
  ((path: string, line: number) => void) | undefined
>(undefined);
