// A failure with all that led to it, the innermost last.
import type { JSX } from "preact";
import type { ShownFailure } from "temporalex/debug";

/** A failure may be its own cause a thousand times over. */
const MOST = 12;

export function FailureWell({ failure }: { failure: ShownFailure }): JSX.Element {
  const chain: ShownFailure[] = [];
  for (let at: ShownFailure | undefined = failure; at !== undefined && chain.length < MOST; at = at.cause) chain.push(at);
  return (
    <ol class="value-well failure">
      {chain.map(({ type, message }, i) => (
        <li key={i}>
          {i > 0 && <span class="soft because">because of</span>}
          {type !== "" && <b class="failed">{type}</b>}{" "}
          <span class="wrap">{message === "" && type === "" ? "no reason is given" : message}</span>
        </li>
      ))}
    </ol>
  );
}
