// The section about values that no replay compares. Few runs have any: it is loaded with the first of them.
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import type { OpenRun } from "../app/state.ts";

/** Once it is loaded. */
export const changedSection: Signal<ComponentType<{ readonly run: OpenRun }> | undefined> = signal(undefined);

export function showChanged(): void {
  if (changedSection.value === undefined) {
    void import("./changed_section.tsx").then(({ ChangedSection }) => (changedSection.value = ChangedSection));
  }
}
