// Where a what-if is begun from the inspector. The what-if part puts its own function in here when it is loaded.
import { type Signal, signal } from "@preact/signals";
import type { OpenRun } from "../app/state.ts";

/** Begins a what-if at the current position that sends this message. Undefined: there is no such part. */
export const legalNow: Signal<((run: OpenRun, kind: "update" | "signal", name: string) => void) | undefined> = signal<
  ((run: OpenRun, kind: "update" | "signal", name: string) => void) | undefined
>(undefined);
