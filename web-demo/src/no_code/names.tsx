// Names in sentences, as links to their items.
import type { JSX } from "preact";
import type { RunItem } from "../store/run_model.ts";
import { playing, selectItem } from "../store/state.ts";
import { bareName } from "../../../ts/run_view/words.ts";

export function ThingLink({ item }: { item: RunItem }): JSX.Element {
  return (
    <button
      type="button"
      class="thing-link"
      onClick={() => {
        playing.value = false;
        selectItem(item);
      }}
    >
      {item.kind === "run"
        ? item.from === 1 ? "the start" : `the end (${item.name})`
        : bareName(item)}
    </button>
  );
}

/** Limit for names; the rest is counted. */
const MOST = 4;

/** "A, B and C". */
export function Things({ items }: { items: readonly RunItem[] }): JSX.Element {
  const shown = items.length > MOST + 1 ? items.slice(0, MOST) : items;
  const more = items.length - shown.length;
  return (
    <>
      {shown.map((item, i) => (
        <span key={item.index}>
          {i > 0 && (i === shown.length - 1 && more === 0 ? " and " : ", ")}
          <ThingLink item={item} />
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
    </>
  );
}

/** A finding. Text between two stars is a name or a number and is bold. */
export const Marked = ({ text }: { text: string }): JSX.Element => (
  <>{text.split("**").map((part, i) => i % 2 === 1 ? <b key={i}>{part}</b> : part)}</>
);
