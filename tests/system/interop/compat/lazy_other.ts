// Imported both ways.
import { CancellationScope } from "@temporalio/workflow";
import { seen } from "./lazy_notes.ts";

seen.push("other");

export let count = 0;
export const add = () => ++count;
export const inScope = () => CancellationScope.current();
export default "by default";
