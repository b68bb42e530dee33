// Compare: two runs, or branches of them, side by side. Which two stands in the address; the screen is loaded when it is asked for.
import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { addActions } from "../app/actions.tsx";
import { bindToAddress } from "../app/router.ts";
import { currentRun, type OpenRun } from "../app/state.ts";
import { CompareButton } from "./button.tsx";

/** The two sides: a run's key, and behind "~" a branch of it. Undefined: nothing is compared. */
export const sideA: Signal<string | undefined> = signal(undefined);
export const sideB: Signal<string | undefined> = signal(undefined);
/** Once it is loaded. */
export const compareScreen: Signal<ComponentType | undefined> = signal(undefined);
export const isComparing: ReadonlySignal<boolean> = computed(() => sideA.value !== undefined);

/** The run that a side is of. */
export const runOfSide = (side: string): string => side.replace(/~\d+$/, "");

const load = async () => {
  const module = await import("./screen.tsx");
  compareScreen.value = module.CompareScreen;
  return module;
};

/** Shows a run beside its branch, or beside another opened run. */
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
  // Who goes to a third run leaves the comparison.
  const key = currentRun.value?.key;
  const [a, b] = [sideA.peek(), sideB.peek()];
  if (a !== undefined && key !== undefined && key !== runOfSide(a) && (b === undefined || key !== runOfSide(b))) closeCompare();
});
