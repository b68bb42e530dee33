// The button that opens and closes the comparison.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { bindKeys } from "../store/keys.ts";
import type { OpenRun } from "../store/state.ts";
import { closeCompare, isComparing, openCompare } from "./mod.ts";

export function CompareButton({ run }: { run: OpenRun }): JSX.Element {
  const isOpen = isComparing.value;
  const press = () => isComparing.peek() ? closeCompare() : void openCompare(run);
  useEffect(
    () =>
      bindKeys([{
        keys: ["x"],
        group: "Ask",
        label: "Compare two runs or branches, and back",
        run: press,
      }]),
    [run],
  );
  return (
    <button
      type="button"
      id={isOpen ? "compare-back" : "compare"}
      class="button bare"
      onClick={press}
    >
      {isOpen ? "Back to the run" : "Compare"}
    </button>
  );
}
