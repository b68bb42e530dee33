// The line below the rows: the number of runs, and of linked runs that are not open.
import type { JSX } from "preact";
import type { Family } from "../store/family.ts";
import { count } from "../ui/time.ts";
import { canFetch, fetching, fetchMore, missingOf } from "./fetch_linked.ts";

const runsText = (n: number) => `${count(n)} ${n === 1 ? "run" : "runs"}`;

export function ChainNote({ family }: { readonly family: Family }): JSX.Element {
  const { state, why } = fetching.value;
  const missing = missingOf(family).length;
  const events = family.runs.reduce((sum, { model }) => sum + model.lines.length, 0);
  const here = `${runsText(family.runs.length)}, ${count(events)} events`;
  const rest = missing === 0
    ? ""
    : state === "fetching"
    ? `, ${count(missing)} more ${missing === 1 ? "is" : "are"} loading…`
    : canFetch
    ? `, ${count(missing)} linked ${missing === 1 ? "run is" : "runs are"} not loaded${
      why === "" ? "" : `: ${why}`
    }`
    : `; ${count(missing)} linked ${
      missing === 1 ? "run is" : "runs are"
    } not open: drop their histories here`;
  return (
    <p class="ch-note" role="status" id="chain-note" title={here + rest}>
      <span class="cut">{here}{rest}</span>
      {canFetch && missing > 0 && state === "rests" && (
        <button type="button" class="button bare" id="fetch-more" onClick={fetchMore}>
          Fetch more
        </button>
      )}
    </p>
  );
}
