// The chosen event group, and the parts that show groups: they are loaded with the first history
// that has groups.
import { type Signal, signal } from "@preact/signals";
import type { EventGroup } from "temporalex/debug";
import type { ComponentType } from "preact";
import type { RunItem, RunModel } from "../store/run_model.ts";

interface GroupParts {
  /** The select of a group. */
  readonly Bar: ComponentType<{ readonly model: RunModel }>;
  /** The first group of an item, as a cell of its row. */
  readonly Chip: ComponentType<{ readonly model: RunModel; readonly item: RunItem }>;
  /** All groups of an item. */
  readonly Chips: ComponentType<
    { readonly model: RunModel; readonly item: RunItem; readonly most: number }
  >;
  /** The groups of an item in its list of facts. */
  readonly Fact: ComponentType<{ readonly model: RunModel; readonly item: RunItem }>;
}

export const groupParts: Signal<GroupParts | undefined> = signal(undefined);
/** The chosen group and its run; undefined: all items are shown. */
export const chosenGroup: Signal<
  | { readonly model: RunModel; readonly group: EventGroup; readonly items: ReadonlySet<number> }
  | undefined
> = signal(undefined);

/** Indexes of the items of the chosen group; undefined: all items are shown. */
export const itemsInGroup = (model: RunModel): ReadonlySet<number> | undefined =>
  chosenGroup.value?.model === model ? chosenGroup.value.items : undefined;

export function loadGroups(model: RunModel): void {
  if (model.hasGroups && groupParts.value === undefined) {
    void import("./groups.tsx").then((parts) => (groupParts.value = parts));
  }
}
