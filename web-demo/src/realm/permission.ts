// Which code may run. Samples and the code of `temporalex debug` may run. Other code runs after a
// click in a dialog that shows it; edits of permitted code may run as well.
import { type ReadonlySignal, signal } from "@preact/signals";
import type { CodeSet } from "../store/code_set.ts";

const permitted = signal<ReadonlySet<string>>(new Set());

/** Ids of code sets that were permitted by a click. */
export const permittedCode: ReadonlySignal<ReadonlySet<string>> = permitted;

/** Whether code may run now. */
export function mayRun({ id, origin }: CodeSet): boolean {
  return origin === "sample" || origin === "command line" || permitted.value.has(id);
}

/** Permits a code set that the user has seen. */
export function permit({ id }: CodeSet): void {
  permitted.value = new Set([...permitted.value, id]);
}
