// The steps of A and B side by side.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Comparison } from "../../../ts/what_if/compare.ts";
import type { Step } from "../../../ts/what_if/steps.ts";
import { Glyph } from "../ui/glyph.tsx";
import { formatDelay } from "../ui/time.ts";
import { GLYPHS } from "./axes.tsx";
import type { Branches } from "./branches.ts";

interface Props {
  readonly branches: Branches;
  readonly comparison: Comparison | undefined;
  readonly difference: number;
}

export function Steps({ branches, comparison, difference }: Props): JSX.Element {
  const current = useRef<HTMLTableRowElement>(null);
  const at = comparison?.differences[difference];
  useEffect(() => current.current?.scrollIntoView({ block: "nearest" }), [at, comparison]);
  if (comparison === undefined) {
    return (
      <p class="soft empty">
        {branches.chosen.value === 0
          ? "Choose a branch to compare its steps with the recorded run."
          : "The branch has not run."}
      </p>
    );
  }
  return (
    <table class="both-steps">
      <thead>
        <tr>
          <th scope="col">
            <span class="side-mark of-a">A</span> recorded
          </th>
          <th scope="col">
            <span class="side-mark of-b">B</span> branch
          </th>
          <th scope="col" class="num">B later</th>
        </tr>
      </thead>
      <tbody>
        {comparison.steps.map(({ a, b, same, laterMs }, i) => (
          <tr
            key={i}
            ref={i === at ? current : undefined}
            class={`${same ? "" : "differs"} ${i === at ? "current" : ""}`}
          >
            <td>{a === undefined ? <span class="soft">missing</span> : <StepText step={a} />}</td>
            <td>{b === undefined ? <span class="soft">missing</span> : <StepText step={b} />}</td>
            <td class="num">{formatDelay(laterMs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function StepText(
  { step: { kind, what, name, text, eventId } }: { step: Step },
): JSX.Element {
  return (
    <span class="step-text" title={`event ${eventId}: ${kind} ${name} ${what} ${text}`}>
      <Glyph kind={GLYPHS[kind]} label={kind} /> {name !== "" && <b>{name}</b>}{" "}
      <span class="soft">{what}</span> <code>{text}</code>
    </span>
  );
}
