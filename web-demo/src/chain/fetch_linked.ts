// Fetches runs that opened runs link to, up to a limit, while the chain is shown. Only `temporalex
// ui`, and `temporalex debug` with a store or a cluster, can fetch runs.
import { effect, type Signal, signal } from "@preact/signals";
import type { RunLink } from "temporalex/debug";
import { tieOfLink } from "../store/chain.ts";
import type { Family } from "../store/family.ts";
import { addRun, currentRun, openedRuns, type OpenRun } from "../store/state.ts";
import { fetchRun, isFetched } from "../served/linked.ts";
import { alone } from "./alone.ts";
import { family } from "./state.ts";

/** Limit for runs of a family that are fetched without a click. */
const MOST_RUNS = 60;
const AT_ONCE = 4;

/** Whether the page can fetch runs. */
export const canFetch: boolean = isFetched;

export const fetching: Signal<{ readonly state: "rests" | "fetching"; readonly why: string }> =
  signal({
    state: "rests",
    why: "",
  });
/** Limit for runs of the current family; raised by {@link fetchMore}. */
const bound: Signal<number> = signal(MOST_RUNS);
/** Errors of runs that could not be fetched, by run id. */
const refused = new Map<string, string>();

/**
 * Linked runs of the family that are not open: the runs before and after first, then parents, then
 * children.
 */
export function missingOf({ runs }: Family): readonly RunLink[] {
  const open = new Set(openedRuns.value.map(({ model }) => model.facts.runId));
  for (const { model } of runs) open.add(model.facts.runId);
  const missing = new Map<string, RunLink>();
  for (const { model } of runs) {
    for (const link of model.facts.links) {
      if (tieOfLink(link) !== undefined && link.runId !== "" && !open.has(link.runId)) {
        missing.set(link.runId, link);
      }
    }
  }
  const rank = (link: RunLink) => ["before", "after", "parent", "child"].indexOf(tieOfLink(link)!);
  return [...missing.values()].sort((a, b) => rank(a) - rank(b));
}

export function fetchMore(): void {
  refused.clear();
  bound.value += MOST_RUNS;
}

/**
 * Fetches linked runs until the limit is reached, also those of newly opened runs. Returns a
 * function that stops it.
 */
export function watchLinked(): () => void {
  if (!canFetch) return () => {};
  let isAtWork = false, ended = false;
  const wanted = (): readonly RunLink[] => {
    const run = currentRun.peek();
    const all = run === undefined ? undefined : family.peek() ?? alone(run);
    if (all === undefined) return [];
    return missingOf(all).filter(({ runId }) => !refused.has(runId)).slice(
      0,
      Math.max(0, bound.peek() - all.runs.length),
    );
  };
  const work = async () => {
    if (isAtWork) return;
    isAtWork = true;
    try {
      for (let next = wanted(); next.length > 0 && !ended; next = wanted()) {
        fetching.value = { state: "fetching", why: "" };
        // Runs that arrive together are added together: the timeline is laid out once for them.
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
    // Outside the effect, because the work writes signals that the effect reads.
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
