// Which code may run. The page's own samples may, and what `temporalex debug` was started with; everything else runs after a click on a
// dialog that shows it. Edits of what was permitted are the user's own.
import { type ReadonlySignal, signal } from "@preact/signals";
import type { CodeSet } from "./code_set.ts";

const permitted = signal<ReadonlySet<string>>(new Set());

/** Ids of code sets that were permitted by a click. */
export const permittedCode: ReadonlySignal<ReadonlySet<string>> = permitted;

/** Whether code may run now. */
export function mayRun({ id, origin }: CodeSet): boolean {
  return origin === "sample" || origin === "command line" || permitted.value.has(id);
}

/** The user has seen what will run, and wants it. */
export function permit({ id }: CodeSet): void {
  permitted.value = new Set([...permitted.value, id]);
}
