// A failure with its causes, the innermost last.
import type { JSX } from "preact";
import type { ShownFailure } from "temporalex/debug";

/** Limit for causes: a failure can be its own cause. */
const MOST = 12;

export function FailureWell({ failure }: { failure: ShownFailure }): JSX.Element {
  const chain: ShownFailure[] = [];
  for (
    let at: ShownFailure | undefined = failure;
    at !== undefined && chain.length < MOST;
    at = at.cause
  ) chain.push(at);
  return (
    <ol class="value-well failure">
      {chain.map(({ type, message }, i) => (
        <li key={i}>
          {i > 0 && <span class="soft because">because of</span>}
          {type !== "" && <b class="failed">{`${type} `}</b>}
          <span class="wrap">{message === "" && type === "" ? "no message" : message}</span>
        </li>
      ))}
    </ol>
  );
}
