// Where a what-if is begun from the inspector. The what-if part puts its own function in here when it is loaded.
import { type Signal, signal } from "@preact/signals";
import type { RunItem } from "../app/run_model.ts";
import type { OpenRun } from "../app/state.ts";

/** Begins a what-if at the current position that sends this message. Undefined: there is no such part. */
export const legalNow: Signal<((run: OpenRun, kind: "update" | "signal", name: string) => void) | undefined> = signal<
  ((run: OpenRun, kind: "update" | "signal", name: string) => void) | undefined
>(undefined);

/** Begins a what-if that changes this thing. Undefined: there is no such part. */
export const changeThis: Signal<((run: OpenRun, item: RunItem) => void) | undefined> = signal<
  ((run: OpenRun, item: RunItem) => void) | undefined
>(undefined);
const CHANGEABLE: ReadonlySet<RunItem["kind"]> = new Set(["run", "signal", "update", "activity", "child", "timer"]);
/** The marker of a reducer: what it gave is recorded in it. */
export const isTransact = ({ kind, name }: RunItem): boolean => kind === "marker" && name.startsWith("transact ");
/** A what-if can change the thing. */
export const isChangeable = (item: RunItem): boolean => CHANGEABLE.has(item.kind) || isTransact(item);
