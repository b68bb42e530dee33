// Keys of the run. Parts name theirs here, and the sheet behind "?" is made of the same list, so that what it says is what works.
//
// No key is taken from somebody who types, selects text or uses the browser: not with Ctrl, Alt or Meta, not in a field, not in a dialog, not
// where an element has taken it already, and letters only while the focus is in the run.
import { type Signal, signal } from "@preact/signals";

export type KeyGroup = "Move" | "Look" | "Ask" | "Take away";

export interface KeyBinding {
  /** As in `KeyboardEvent.key`, "Shift+" before it where that matters for a named key: "ArrowLeft", "Shift+ArrowLeft", "/", "p". */
  readonly keys: readonly string[];
  readonly group: KeyGroup;
  /** What it does, for the sheet. */
  readonly label: string;
  /** Undefined: the key is handled where the focus is (a slider, a list), and is here for the sheet alone. */
  readonly run?: () => void;
}

export const bindings: Signal<readonly KeyBinding[]> = signal<readonly KeyBinding[]>([]);
/** The sheet of all keys is in sight. */
export const sheetIsOpen: Signal<boolean> = signal(false);

/** Adds keys of a part. Returns what takes them out again. */
export function bindKeys(added: readonly KeyBinding[]): () => void {
  bindings.value = [...bindings.value, ...added];
  return () => (bindings.value = bindings.value.filter((binding) => !added.includes(binding)));
}

/** Where keys mean text or a value. */
const OWN_KEYS =
  "input, select, textarea, [contenteditable]:not([contenteditable=false]), [role=slider], [role=menu], dialog[open]";

const nameOf = ({ key, shiftKey }: KeyboardEvent) => shiftKey && key.length > 1 ? `Shift+${key}` : key;

/** Whether the key means text, a selection or something of the browser's. */
function isTaken(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return true;
  const target = event.target as Element;
  if (target.closest(OWN_KEYS) !== null || document.querySelector("dialog[open]") !== null) return true;
  const isNamed = event.key.length > 1;
  // Arrows change a selection of text that is there.
  if (isNamed && getSelection()?.type === "Range") return true;
  // A dialog gives the focus back to the button of the top bar that opened it.
  const inRun = target === document.body || target.closest("#main, .top .actions") !== null;
  return !inRun;
}

/** What each key press passes first; it takes the key by returning true. Used by the first screen, where any key takes over. */
export const before: { run: ((event: KeyboardEvent) => void) | undefined } = { run: undefined };

/** Begins to listen. */
export function watchKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (isTaken(event)) return;
    before.run?.(event);
    const name = nameOf(event);
    const binding = bindings.value.findLast(({ keys, run }) => run !== undefined && keys.includes(name));
    if (binding === undefined) return;
    event.preventDefault();
    binding.run!();
  });
}
