// A value as a tree: one row for each key, with a preview until it is expanded. Arrow keys work as
// in the ARIA tree pattern.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { keyText, lineOfValue } from "../../../ts/run_view/value_text.ts";

const isTree = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !(value instanceof Uint8Array);
/** Entries of one level that are shown at first. */
const AT_ONCE = 100;

interface NodeProps {
  readonly name: string | number | undefined;
  readonly value: unknown;
  readonly depth: number;
  readonly isOpen: boolean;
}

function moveFocus(
  event: KeyboardEvent,
  isOpen: boolean | undefined,
  setOpen: (open: boolean) => void,
): void {
  const item = event.currentTarget as HTMLElement;
  if (event.target !== item) return;
  const items = [...item.closest("[role=tree]")!.querySelectorAll<HTMLElement>("[role=treeitem]")];
  const at = items.indexOf(item);
  const go = (to: HTMLElement | null | undefined) => to?.focus();
  if (event.key === "ArrowDown") go(items[at + 1]);
  else if (event.key === "ArrowUp") go(items[at - 1]);
  else if (event.key === "ArrowRight" && isOpen === false) setOpen(true);
  else if (event.key === "ArrowRight") go(items[at + 1]);
  else if (event.key === "ArrowLeft" && isOpen === true) setOpen(false);
  else if (event.key === "ArrowLeft") {
    go(item.parentElement?.closest<HTMLElement>("[role=treeitem]"));
  } else if (event.key === "Enter" && isOpen !== undefined) setOpen(!isOpen);
  else return;
  event.preventDefault();
  event.stopPropagation();
}

function Node({ name, value, depth, isOpen: isOpenFirst }: NodeProps): JSX.Element {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const [most, setMost] = useState(AT_ONCE);
  const label = name === undefined
    ? null
    : <span class="tree-key">{typeof name === "number" ? name : keyText(name)}</span>;
  if (!isTree(value) || Object.keys(value).length === 0) {
    const text = lineOfValue(value, 20_000);
    return (
      <li
        role="treeitem"
        tabIndex={-1}
        class="tree-leaf"
        onKeyDown={(event) => moveFocus(event, undefined, setOpen)}
      >
        {label} <span class="tree-value">{text}</span>
      </li>
    );
  }
  const keys = Object.keys(value);
  const isList = Array.isArray(value);
  return (
    <li
      role="treeitem"
      tabIndex={depth === 0 ? 0 : -1}
      aria-expanded={isOpen}
      onKeyDown={(event) => moveFocus(event, isOpen, setOpen)}
    >
      <span class="tree-row" onClick={() => setOpen(!isOpen)}>
        <span class="tree-arrow" aria-hidden="true">{isOpen ? "▾" : "▸"}</span>
        {label}{" "}
        <span class="tree-value soft">
          {isOpen
            ? isList ? keys.length === 1 ? "1 item" : `${keys.length} items` : ""
            : lineOfValue(value, 120)}
        </span>
      </span>
      {isOpen && (
        <ul role="group">
          {keys.slice(0, most).map((key) => (
            <Node
              key={key}
              name={isList ? Number(key) : key}
              value={(value as { readonly [key: string]: unknown })[key]}
              depth={depth + 1}
              isOpen={false}
            />
          ))}
          {keys.length > most && (
            <li role="none">
              <button
                type="button"
                class="button small bare"
                onClick={() => setMost(most + 10 * AT_ONCE)}
              >
                Show {keys.length - most} more
              </button>
            </li>
          )}
        </ul>
      )}
    </li>
  );
}

/** `label`: the accessible name. */
export function ValueTree({ value, label }: { value: unknown; label: string }): JSX.Element {
  return (
    <ul class="value-tree" role="tree" aria-label={label}>
      <Node name={undefined} value={value} depth={0} isOpen />
    </ul>
  );
}
