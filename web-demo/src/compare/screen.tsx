// The screen of a comparison: its two sides, their ends, the first difference, the steps of both,
// and the state at a step.
import { batch, type Signal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import { compareRuns, type Comparison } from "../../../ts/what_if/compare.ts";
import { findRun } from "../open/first.ts";
import { bindKeys } from "../store/keys.ts";
import { currentRun, openedRuns, type OpenRun, showRun } from "../store/state.ts";
import { knownBranches } from "../what_if/branches.ts";
import "../what_if/what_if.css";
import "./compare.css";
import { runOfSide, sideA, sideB } from "./mod.ts";
import { ComparedRows } from "./rows.tsx";
import { choices, type Side, sideOf } from "./sides.ts";
import { BothStates } from "./states.tsx";
import { Summary } from "./summary.tsx";

/** Index of the current step. */
const at: Signal<number> = signal(0);
/** Number of moves of the reader in this comparison. */
const moves: Signal<number> = signal(0);
/** Unfolded folds, by the index of their first step. */
const unfolded: Signal<ReadonlySet<number>> = signal(new Set());

/**
 * Starts with a run and its branch, else with another opened run of the same type, else with any
 * other run.
 */
export function begin(run: OpenRun): void {
  const branches = knownBranches(run);
  const branch = branches?.chosen.value ?? 0;
  const others = openedRuns.value.filter((other) => other !== run);
  const other = others.find(({ model }) => model.facts.type === run.model.facts.type) ?? others[0];
  const ran = branch !== 0 && branches?.tree.value.node(branch).result !== undefined;
  batch(() => {
    sideA.value = run.key;
    sideB.value = ran ? `${run.key}~${branch}` : other?.key;
  });
}

export function CompareScreen(): JSX.Element {
  const [keyA, keyB] = [sideA.value ?? "", sideB.value];
  const a = sideOf(keyA);
  const b = keyB === undefined ? "Choose a run or a branch." : sideOf(keyB);
  useEffect(() => {
    // The address of a comparison can name runs that this tab has not opened.
    for (const side of [keyA, keyB]) {
      if (side !== undefined && !openedRuns.peek().some(({ key }) => key === runOfSide(side))) {
        void findRun(runOfSide(side));
      }
    }
  }, [keyA, keyB]);
  const events = [eventsOf(a), eventsOf(b)] as const;
  const comparison = useMemo(
    () =>
      events[0] === undefined || events[1] === undefined
        ? undefined
        : compareRuns(events[0], events[1]),
    [...events],
  );
  useEffect(() => {
    at.value = Math.max(0, comparison?.first ?? 0);
    unfolded.value = new Set();
    moves.value = 0;
  }, [comparison]);
  useEffect(() => comparison && bindCompareKeys(comparison), [comparison]);
  return (
    <div class="compare-room">
      <div class="compare-sides">
        <Chooser
          mark="A"
          chosen={keyA}
          choose={(side) => choose(side, keyB)}
          said={typeof a === "string" ? a : ""}
        />
        <Chooser
          mark="B"
          chosen={keyB}
          choose={(side) => choose(keyA, side)}
          said={typeof b === "string" ? b : ""}
        />
        <button
          type="button"
          class="button small"
          id="swap-sides"
          aria-disabled={keyB === undefined}
          onClick={() => keyB !== undefined && choose(keyB, keyA)}
        >
          Swap A and B
        </button>
      </div>
      {openedRuns.value.length < 2 && choices().length < 2 && (
        <p class="compare-hint">
          One run is open. Open another history, or make a branch of this one with What if.
        </p>
      )}
      {comparison !== undefined && typeof a !== "string" && typeof b !== "string" && (
        <Compared a={a} b={b} comparison={comparison} />
      )}
    </div>
  );
}

const eventsOf = (side: Side | string) => typeof side === "string" ? undefined : side.events;

function Compared({ a, b, comparison }: { a: Side; b: Side; comparison: Comparison }): JSX.Element {
  return (
    <div class="compare-work">
      <section class="compare-steps" aria-label="Steps side by side" tabIndex={0}>
        <Summary a={a} b={b} comparison={comparison} next={() => toDifference(comparison, 1)} />
        <ComparedRows
          comparison={comparison}
          at={at.value}
          moves={moves.value}
          unfolded={unfolded.value}
          unfold={(from) => (unfolded.value = new Set([...unfolded.value, from]))}
          choose={(index) => (at.value = index)}
        />
      </section>
      <section class="compare-state" aria-label="State at the step" tabIndex={0}>
        <BothStates
          a={a}
          b={b}
          comparison={comparison}
          at={Math.min(at.value, comparison.steps.length - 1)}
        />
      </section>
    </div>
  );
}

interface ChooserProps {
  readonly mark: "A" | "B";
  readonly chosen: string | undefined;
  /** Why the side is empty. */
  readonly said: string;
  choose(side: string): void;
}

function Chooser({ mark, chosen, said, choose }: ChooserProps): JSX.Element {
  const all = choices();
  const id = `side-${mark.toLowerCase()}`;
  return (
    <div class="compare-side">
      <label>
        <span class={`side-mark of-${mark.toLowerCase()}`}>{mark}</span>
        <select
          id={id}
          value={chosen ?? ""}
          onChange={({ currentTarget }) => choose(currentTarget.value)}
        >
          {!all.some(([side]) => side === chosen) && (
            <option value={chosen ?? ""}>not chosen</option>
          )}
          {all.map(([side, label]) => <option key={side} value={side}>{label}</option>)}
        </select>
      </label>
      {said !== "" && <p class="soft" role="status">{said}</p>}
    </div>
  );
}

/** Changes the sides. The run of one side is the current run. */
function choose(a: string, b: string | undefined): void {
  batch(() => {
    sideA.value = a;
    sideB.value = b;
    const key = currentRun.value?.key;
    const run = openedRuns.value.find((each) => each.key === runOfSide(a));
    if (run !== undefined && key !== runOfSide(a) && (b === undefined || key !== runOfSide(b))) {
      showRun(run);
    }
  });
}

/** Moves to the next or previous difference, and continues at the other end. */
function toDifference({ differences }: Comparison, by: 1 | -1): void {
  if (differences.length === 0) return;
  const next = by === 1
    ? differences.find((index) => index > at.value) ?? differences[0]!
    : differences.findLast((index) => index < at.value) ?? differences.at(-1)!;
  moveTo(next);
}

function moveTo(index: number): void {
  batch(() => {
    at.value = index;
    moves.value++;
  });
}

const bindCompareKeys = (comparison: Comparison): () => void => {
  const move = (by: number) => () =>
    moveTo(Math.max(0, Math.min(comparison.steps.length - 1, at.value + by)));
  return bindKeys([
    {
      keys: ["n"],
      group: "Ask",
      label: "Next difference of A and B",
      run: () => toDifference(comparison, 1),
    },
    {
      keys: ["N"],
      group: "Ask",
      label: "Previous difference",
      run: () => toDifference(comparison, -1),
    },
    { keys: ["j"], group: "Move", label: "Next step of the comparison", run: move(1) },
    { keys: ["k"], group: "Move", label: "Previous step of the comparison", run: move(-1) },
  ]);
};
