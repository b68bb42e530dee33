// Functions that start a what-if from the inspector; `what_if/` sets them when it is loaded.
import { type Signal, signal } from "@preact/signals";
import type { RunItem } from "../store/run_model.ts";
import type { OpenRun } from "../store/state.ts";

/** Starts a what-if that sends this message at the current position. */
export const legalNow: Signal<
  ((run: OpenRun, kind: "update" | "signal", name: string) => void) | undefined
> = signal<
  ((run: OpenRun, kind: "update" | "signal", name: string) => void) | undefined
>(undefined);

/** Starts a what-if that changes this item. */
export const changeThis: Signal<((run: OpenRun, item: RunItem) => void) | undefined> = signal<
  ((run: OpenRun, item: RunItem) => void) | undefined
>(undefined);
const CHANGEABLE: ReadonlySet<RunItem["kind"]> = new Set([
  "run",
  "signal",
  "update",
  "activity",
  "child",
  "timer",
]);
/** Whether the item is the marker of a reducer, which has its result. */
export const isTransact = ({ kind, name }: RunItem): boolean =>
  kind === "marker" && name.startsWith("transact ");
/** Whether a what-if can change the item. */
export const isChangeable = (item: RunItem): boolean =>
  CHANGEABLE.has(item.kind) || isTransact(item);
