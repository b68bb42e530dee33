// Loads the section about values that replay does not compare. Few runs have any, so it is a
// separate chunk.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { OpenRun } from "../store/state.ts";

/** Undefined until it is loaded. */
export const changedSection: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(
  undefined,
);

export function showChanged(): void {
  if (changedSection.value === undefined) {
    void import("./changed_section.tsx").then((
      { ChangedSection },
    ) => (changedSection.value = ChangedSection));
  }
}
