// Compare: two runs or branches next to each other. The two are part of the address. The screen is
// loaded when it is first opened.
import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { addActions } from "../store/actions.tsx";
import { bindToAddress } from "../store/router.ts";
import { currentRun, type OpenRun } from "../store/state.ts";
import { CompareButton } from "./button.tsx";

/** The two sides: the key of a run, and after "~" the id of a branch. Undefined: no comparison. */
export const sideA: Signal<string | undefined> = signal(undefined);
export const sideB: Signal<string | undefined> = signal(undefined);
/** Undefined until it is loaded. */
export const compareScreen: Signal<ComponentType | undefined> = signal(undefined);
export const isComparing: ReadonlySignal<boolean> = computed(() => sideA.value !== undefined);

/** The key of a side's run. */
export const runOfSide = (side: string): string => side.replace(/~\d+$/, "");

const load = async () => {
  const module = await import("./screen.tsx");
  compareScreen.value = module.CompareScreen;
  return module;
};

/** Compares a run with its branch, or with another opened run. */
export async function openCompare(run: OpenRun): Promise<void> {
  (await load()).begin(run);
}

export function closeCompare(): void {
  sideA.value = undefined;
  sideB.value = undefined;
}

bindToAddress("a", sideA);
bindToAddress("b", sideB);
addActions(CompareButton);
effect(() => {
  if (isComparing.value && compareScreen.peek() === undefined) void load();
});
effect(() => {
  // Moving to a third run closes the comparison.
  const key = currentRun.value?.key;
  const [a, b] = [sideA.peek(), sideB.peek()];
  if (
    a !== undefined && key !== undefined && key !== runOfSide(a) &&
    (b === undefined || key !== runOfSide(b))
  ) closeCompare();
});
