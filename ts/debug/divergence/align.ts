// Pairs the steps of code and history. Up to the first pair that differs the pairs follow the order
// in which the replay matches them; after it, they follow the longest common subsequence. Local
// activities are paired by number, because their markers are recorded where their results arrived.
import type { CodeStep } from "./code_steps.ts";
import type { HistoryStep, HistoryTask } from "./history_steps.ts";
import { isSameStep } from "./steps.ts";

export interface Pair {
  readonly history: HistoryStep | undefined;
  readonly code: CodeStep | undefined;
  readonly same: boolean;
}

/** The first place where the two sides differ. */
export interface Place {
  readonly task: HistoryTask;
  /** Index in the task's pairs. */
  readonly at: number;
  readonly pairs: readonly Pair[];
}

/**
 * Limit of the table of the longest common subsequence. Steps of larger tasks are paired in order.
 */
const MAX_TABLE = 160_000;

/** Returns the pairs of one task. */
export function pairSteps(history: readonly HistoryStep[], code: readonly CodeStep[]): Pair[] {
  const pairs: Pair[] = [];
  let h = 0;
  let c = 0;
  for (;;) {
    const here = history[h];
    const there = code[c];
    if (here === undefined && there === undefined) return pairs;
    if (here !== undefined && there !== undefined && isSameStep(here, there)) {
      pairs.push({ history: here, code: there, same: true });
      h++;
      c++;
    } else if (here?.lenient === true) {
      pairs.push({ history: here, code: undefined, same: true });
      h++;
    } else if (there?.lenient === true) {
      pairs.push({ history: undefined, code: there, same: true });
      c++;
    } else break;
  }
  return [...pairs, ...byCommon(history.slice(h), code.slice(c))];
}

/**
 * Pairs steps by their longest common subsequence. Steps between two common ones are paired in
 * order.
 */
function byCommon(history: readonly HistoryStep[], code: readonly CodeStep[]): Pair[] {
  const [n, m] = [history.length, code.length];
  if (n * m > MAX_TABLE) {
    return Array.from({ length: Math.max(n, m) }, (_, i) => paired(history[i], code[i]));
  }
  const longest = Array.from({ length: n + 1 }, () => new Uint16Array(m + 1));
  for (let i = n - 1; i >= 0; i--) {
    for (let j = m - 1; j >= 0; j--) {
      const common = isSameStep(history[i]!, code[j]!) ? longest[i + 1]![j + 1]! + 1 : 0;
      longest[i]![j] = Math.max(common, longest[i + 1]![j]!, longest[i]![j + 1]!);
    }
  }
  const pairs: Pair[] = [];
  let i = 0;
  let j = 0;
  let alone: { readonly history: HistoryStep[]; readonly code: CodeStep[] } = {
    history: [],
    code: [],
  };
  const flush = () => {
    for (let k = 0; k < Math.max(alone.history.length, alone.code.length); k++) {
      pairs.push(paired(alone.history[k], alone.code[k]));
    }
    alone = { history: [], code: [] };
  };
  while (i < n || j < m) {
    if (
      i < n && j < m && isSameStep(history[i]!, code[j]!) &&
      longest[i]![j] === longest[i + 1]![j + 1]! + 1
    ) {
      flush();
      pairs.push({ history: history[i++], code: code[j++], same: true });
    } else if (j >= m || (i < n && longest[i + 1]![j]! >= longest[i]![j + 1]!)) {
      alone.history.push(history[i++]!);
    } else alone.code.push(code[j++]!);
  }
  flush();
  return pairs;
}

const paired = (history: HistoryStep | undefined, code: CodeStep | undefined): Pair => ({
  history,
  code,
  same: history === undefined ? code!.lenient : code === undefined && history.lenient,
});

/** The steps of both sides, by workflow task. */
export class Sides {
  readonly history: readonly HistoryTask[];
  readonly code: ReadonlyMap<number, readonly CodeStep[]>;

  constructor(history: readonly HistoryTask[], code: ReadonlyMap<number, readonly CodeStep[]>) {
    [this.history, this.code] = [history, withLocalActivities(history, code)];
  }

  /** Returns whether the code ran for this task. */
  has({ startedEventId }: HistoryTask): boolean {
    return this.code.has(startedEventId);
  }

  pairs(task: HistoryTask): Pair[] {
    return pairSteps(task.steps, this.code.get(task.startedEventId) ?? []);
  }

  /**
   * Returns the first difference in the tasks up to the one in which the replay ended. `endedAt`:
   * an event ID; 0: all tasks.
   */
  firstPlace(endedAt: number): Place | undefined {
    for (const task of this.history) {
      if (!this.has(task) || (endedAt > 0 && task.startedEventId > endedAt)) continue;
      const pairs = this.pairs(task);
      const at = pairs.findIndex(({ same }) => !same);
      if (at >= 0) return { task, at, pairs };
    }
    return undefined;
  }
}

/**
 * Moves each local activity to the position of its marker. Calls without a marker keep their
 * position.
 */
function withLocalActivities(
  history: readonly HistoryTask[],
  code: ReadonlyMap<number, readonly CodeStep[]>,
): Map<number, CodeStep[]> {
  const isLocal = ({ kind }: { readonly kind: string }) => kind === "localActivity";
  const calls = [...code.values()].flat().filter(isLocal);
  if (calls.length === 0) return new Map([...code].map(([id, steps]) => [id, [...steps]]));
  const markers = history.flatMap(({ steps }) => steps).filter(isLocal);
  const recorded = new Set(
    markers.filter((marker) =>
      calls.some((call) => isSameStep(marker, call) && marker.plan.id === call.plan.id)
    )
      .map(({ plan }) => plan.id),
  );
  const result = new Map(
    [...code].map(([id, steps]) =>
      [id, steps.filter((step) => !isLocal(step) || !recorded.has(step.plan.id))] as const
    ),
  );
  for (const { startedEventId, steps } of history) {
    const own = result.get(startedEventId);
    if (own === undefined) continue;
    steps.forEach((step, i) => {
      const call = isLocal(step) && recorded.has(step.plan.id) &&
        calls.find(({ plan }) => plan.id === step.plan.id);
      if (call) own.splice(Math.min(i, own.length), 0, call);
    });
  }
  return result;
}
