// The runs that opened ones name, on the pages of `temporalex ui` and of `temporalex debug` over a store or a cluster: they are fetched while the
// chain is shown, as many as the bound says. Elsewhere a page has no way to them.
import { effect, type Signal, signal } from "@preact/signals";
import type { RunLink } from "temporalex/debug";
import { tieOfLink } from "../app/chain.ts";
import type { Family } from "../app/family.ts";
import { addRun, currentRun, openedRuns, type OpenRun } from "../app/state.ts";
import { fetchRun, isFetched } from "../served/linked.ts";
import { alone } from "./alone.ts";
import { family } from "./state.ts";

/** Runs of a family that are fetched without being asked again. */
const MOST_RUNS = 60;
const AT_ONCE = 4;

/** This page can get runs that it has not. */
export const canFetch: boolean = isFetched;

export const fetching: Signal<{ readonly state: "rests" | "fetching"; readonly why: string }> = signal({
  state: "rests",
  why: "",
});
/** Runs that the current family may have; a press adds to it. */
const bound: Signal<number> = signal(MOST_RUNS);
/** Runs that could not be fetched, with why. */
const refused = new Map<string, string>();

/** Runs that the family names and that are not open: before and after first, then parents, then children. */
export function missingOf({ runs }: Family): readonly RunLink[] {
  const open = new Set(openedRuns.value.map(({ model }) => model.facts.runId));
  for (const { model } of runs) open.add(model.facts.runId);
  const missing = new Map<string, RunLink>();
  for (const { model } of runs) {
    for (const link of model.facts.links) {
      if (tieOfLink(link) !== undefined && link.runId !== "" && !open.has(link.runId)) missing.set(link.runId, link);
    }
  }
  const rank = (link: RunLink) => ["before", "after", "parent", "child"].indexOf(tieOfLink(link)!);
  return [...missing.values()].sort((a, b) => rank(a) - rank(b));
}

export function fetchMore(): void {
  refused.clear();
  bound.value += MOST_RUNS;
}

/** Fetches until all are here or the bound is reached, and again when a run names another. Returns what ends it. */
export function watchLinked(): () => void {
  if (!canFetch) return () => {};
  let isAtWork = false, ended = false;
  const wanted = (): readonly RunLink[] => {
    const run = currentRun.peek();
    const all = run === undefined ? undefined : family.peek() ?? alone(run);
    if (all === undefined) return [];
    return missingOf(all).filter(({ runId }) => !refused.has(runId)).slice(0, Math.max(0, bound.peek() - all.runs.length));
  };
  const work = async () => {
    if (isAtWork) return;
    isAtWork = true;
    try {
      for (let next = wanted(); next.length > 0 && !ended; next = wanted()) {
        fetching.value = { state: "fetching", why: "" };
        // What comes together is added together: the timeline is laid out once for it.
        const got = await Promise.all(next.slice(0, AT_ONCE).map(fetched));
        for (const run of got) if (run !== undefined) addRun(run);
      }
    } finally {
      isAtWork = false;
      fetching.value = { state: "rests", why: [...refused.values()].at(-1) ?? "" };
    }
  };
  const end = effect(() => {
    void [family.value, currentRun.value, bound.value];
    // Not within the effect: what it writes is what it reads.
    queueMicrotask(() => void work());
  });
  return () => {
    ended = true;
    end();
  };
}

async function fetched(link: RunLink): Promise<OpenRun | undefined> {
  try {
    return await fetchRun(link);
  } catch (error) {
    refused.set(link.runId, `${link.workflowId} cannot be fetched: ${(error as Error).message}`);
    return undefined;
  }
}
