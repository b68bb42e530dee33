// Which chains show their lanes: the first one, those that the reader unfolded, and those that the
// reader moved into.
import { effect, type Signal, signal } from "@preact/signals";
import type { Chain, Family } from "../store/family.ts";
import { currentRun } from "../store/state.ts";
import { family } from "./state.ts";

const chosen: Signal<ReadonlyMap<string, boolean>> = signal(new Map());

export const isUnfolded = (chain: Chain, { root }: Family): boolean =>
  chosen.value.get(chain.key) ?? chain === root;

export function unfold({ key }: Chain, wanted: boolean): void {
  chosen.value = new Map([...chosen.peek(), [key, wanted]]);
}

/**
 * Unfolds a chain when the reader moves into it. The reader can fold it again. Returns a function
 * that stops it.
 */
export function watchUnfolded(): () => void {
  let last: string | undefined;
  return effect(() => {
    const run = currentRun.value;
    const chain = run === undefined ? undefined : family.value?.chains.get(run);
    if (chain === undefined || chain.key === last) return;
    if (last !== undefined || !chosen.peek().has(chain.key)) unfold(chain, true);
    last = chain.key;
  });
}
