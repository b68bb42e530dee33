// The switch in the corner of the timeline: only this run, or the whole chain. Shown if the run has
// related runs.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { bindKeys } from "../store/keys.ts";
import { intro, type OpenRun, room } from "../store/state.ts";
import { Icon } from "../ui/icon.tsx";
import { family, hasOthers, isChain, setChain } from "./state.ts";

const ALL = "Related runs on one timeline (w)";

interface Props {
  readonly run: OpenRun;
  readonly isNarrow: boolean;
}

/** The corner of a timeline, above the heads of its lanes. */
export const Corner = (props: Props): JSX.Element => (
  <div class="tl-corner">
    <ChainSwitch {...props} />
  </div>
);

function ChainSwitch({ run, isNarrow }: Props): JSX.Element | null {
  // The panel of a run and the first screen have timelines without the switch.
  const has = room.value === "open" && !intro.value && hasOthers(run);
  useEffect(() => {
    if (!has) return;
    return bindKeys([
      {
        keys: ["w"],
        group: "Look",
        label: "Switch between run and chain",
        run: () => setChain(!isChain.peek()),
      },
    ]);
  }, [has]);
  if (!has) return null;
  const runs = family.value?.runs.length ?? 1;
  // Otherwise the axis below would handle the press as a move.
  const keep = (event: Event) => event.stopPropagation();
  if (isNarrow) {
    return (
      <button
        type="button"
        class="ch-switch ch-narrow"
        id="chain-switch"
        aria-pressed={isChain.value}
        aria-label="The whole chain"
        title={ALL}
        onPointerDown={keep}
        onClick={() => setChain(!isChain.peek())}
      >
        <Icon name="chain" />
      </button>
    );
  }
  return (
    <div
      class="segments ch-switch"
      id="chain-switch"
      role="group"
      aria-label="Timeline of"
      onPointerDown={keep}
    >
      <button
        type="button"
        aria-pressed={!isChain.value}
        title="Only this run (w)"
        onClick={() => setChain(false)}
      >
        Run
      </button>
      <button type="button" aria-pressed={isChain.value} title={ALL} onClick={() => setChain(true)}>
        Chain{runs > 1 && <small>{` ${runs}`}</small>}
      </button>
    </div>
  );
}
