// Which event group is looked at, and the parts that show groups: those are loaded with the first history that has any.
import { type Signal, signal } from "@preact/signals";
import type { EventGroup } from "temporalex/debug";
import type { ComponentType } from "preact";
import type { RunItem, RunModel } from "../app/run_model.ts";

interface GroupParts {
  /** The choice of a group. */
  readonly Bar: ComponentType<{ readonly model: RunModel }>;
  /** The first group of a thing, as a cell of its row. */
  readonly Chip: ComponentType<{ readonly model: RunModel; readonly item: RunItem }>;
  /** All of them. */
  readonly Chips: ComponentType<{ readonly model: RunModel; readonly item: RunItem; readonly most: number }>;
  /** As a line among what is known of it. */
  readonly Fact: ComponentType<{ readonly model: RunModel; readonly item: RunItem }>;
}

export const groupParts: Signal<GroupParts | undefined> = signal(undefined);
/** Of which run, and what belongs to it; undefined: all things are looked at. */
export const chosenGroup: Signal<
  { readonly model: RunModel; readonly group: EventGroup; readonly items: ReadonlySet<number> } | undefined
> = signal(undefined);

/** Indices of the things that are looked at; undefined: all. */
export const itemsInGroup = (model: RunModel): ReadonlySet<number> | undefined =>
  chosenGroup.value?.model === model ? chosenGroup.value.items : undefined;

export function loadGroups(model: RunModel): void {
  if (model.hasGroups && groupParts.value === undefined) {
    void import("./groups.tsx").then((parts) => (groupParts.value = parts));
  }
}
