// A value as rows with its changes: sign, key, old value struck through, new value, and the source
// of the change.
import type { JSX } from "preact";
import { type DiffRow, diffRows, plainRows, type ShownRow, shownRows } from "./value_diff.ts";
import { keyText, lineOfValue } from "../../../ts/run_view/value_text.ts";

export interface ValueDiffProps {
  readonly label: string;
  readonly value: unknown;
  /** The previous value; ignored if `hasBefore` is false. */
  readonly before: unknown;
  readonly hasBefore: boolean;
  /** The last change of a path: text such as "line 59", and the action of a click. */
  whence?(path: DiffRow["path"]): { readonly text: string; go(): void } | undefined;
}

const SIGNS = { same: "", changed: "", added: "+", removed: "−" } as const;
const SAID = { same: "", changed: "changed: ", added: "added: ", removed: "removed: " } as const;
/** Characters of a value in its row. */
const ROOM = 120;

export function ValueDiff(
  { label, value, before, hasBefore, whence }: ValueDiffProps,
): JSX.Element {
  const rows = hasBefore ? diffRows(before, value) : plainRows(value);
  if (rows.length === 0) {
    const isChanged = hasBefore && lineOfValue(before, 2000) !== lineOfValue(value, 2000);
    return (
      <p class="mono wrap" aria-label={label}>
        {isChanged && before !== undefined && (
          <>
            <s>{lineOfValue(before, ROOM)}</s>
            {" "}
          </>
        )}
        {lineOfValue(value, 600)}
      </p>
    );
  }
  return (
    <ul class="value-rows" aria-label={label}>
      {shownRows(rows).map((shown, i) => <Row key={i} shown={shown} whence={whence} />)}
    </ul>
  );
}

function Row(
  { shown, whence }: { shown: ShownRow; whence: ValueDiffProps["whence"] },
): JSX.Element {
  const indent = { paddingLeft: `${shown.depth * 14}px` };
  if ("folded" in shown) {
    return <li class="soft folded" style={indent}>{shown.folded} more, unchanged</li>;
  }
  const { key, change, before, after, inside, path } = shown.row;
  const from = change === "same" || change === "removed" ? undefined : whence?.(path);
  const text = change === "removed" ? lineOfValue(before, ROOM) : lineOfValue(after, ROOM);
  return (
    <li class={`value-row ${change}`} style={indent}>
      <span class="sign" aria-hidden="true">{SIGNS[change]}</span>
      <span class="key">{typeof key === "number" ? key : keyText(key)}</span>
      {SAID[change] !== "" && <span class="unseen">{SAID[change]}</span>}
      <span class="what" title={text}>
        {inside.length === 0 && change === "changed" && (
          <>
            <s>{lineOfValue(before, ROOM)}</s>
            {" "}
          </>
        )}
        {inside.length > 0
          ? ""
          : change === "removed"
          ? <s>{text}</s>
          : change === "changed"
          ? <b>{text}</b>
          : text}
      </span>
      {from !== undefined && (
        <button
          type="button"
          class="link-button soft"
          onClick={() => from.go()}
        >
          {from.text}
        </button>
      )}
    </li>
  );
}
