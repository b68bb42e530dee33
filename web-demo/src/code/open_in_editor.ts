// Opening a line in the reader's own editor: `temporalex debug` puts in here how, the static page cannot.
import { type Signal, signal } from "@preact/signals";

/** Undefined: nothing on this machine can be asked. */
export const openInEditor: Signal<((path: string, line: number) => void) | undefined> = signal<
  ((path: string, line: number) => void) | undefined
>(undefined);
