// Keyboard shortcuts. Each folder registers its keys here; the dialog of "?" lists the same
// bindings. A shortcut never replaces typing, text selection or a key of the browser: see
// `isTaken`.
import { type Signal, signal } from "@preact/signals";

export type KeyGroup = "Move" | "Look" | "Ask" | "Take away";

export interface KeyBinding {
  /**
   * As in `KeyboardEvent.key`; "Shift+" is a prefix of named keys only: "ArrowLeft",
   * "Shift+ArrowLeft", "/", "p".
   */
  readonly keys: readonly string[];
  readonly group: KeyGroup;
  /** Text in the dialog of all keys. */
  readonly label: string;
  /**
   * Undefined if the focused element (a slider, a list) handles the key: the binding is then only
   * listed.
   */
  readonly run?: () => void;
}

export const bindings: Signal<readonly KeyBinding[]> = signal<readonly KeyBinding[]>([]);
/** True while the dialog of all keys is open. */
export const sheetIsOpen: Signal<boolean> = signal(false);

/** Adds bindings. Returns a function that removes them. */
export function bindKeys(added: readonly KeyBinding[]): () => void {
  bindings.value = [...bindings.value, ...added];
  return () => (bindings.value = bindings.value.filter((binding) => !added.includes(binding)));
}

/** Elements that use keys themselves. */
const OWN_KEYS =
  "input, select, textarea, [contenteditable]:not([contenteditable=false]), [role=slider], [role=menu], dialog[open]";

const nameOf = ({ key, shiftKey }: KeyboardEvent) =>
  shiftKey && key.length > 1 ? `Shift+${key}` : key;

/** Whether the key belongs to a field, a text selection, a dialog or the browser. */
function isTaken(event: KeyboardEvent): boolean {
  if (
    event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing
  ) return true;
  const target = event.target as Element;
  if (target.closest(OWN_KEYS) !== null || document.querySelector("dialog[open]") !== null) {
    return true;
  }
  const isNamed = event.key.length > 1;
  // Arrows extend an existing text selection.
  if (isNamed && getSelection()?.type === "Range") return true;
  // A closed dialog returns the focus to its button in the top bar; shortcuts work there, too.
  const inRun = target === document.body || target.closest("#main, .top .actions") !== null;
  return !inRun;
}

/** Called before each shortcut. The first screen sets it, because any key leaves that screen. */
export const before: { run: ((event: KeyboardEvent) => void) | undefined } = { run: undefined };

export function watchKeys(): void {
  document.addEventListener("keydown", (event) => {
    if (isTaken(event)) return;
    before.run?.(event);
    const name = nameOf(event);
    const binding = bindings.value.findLast(({ keys, run }) =>
      run !== undefined && keys.includes(name)
    );
    if (binding === undefined) return;
    event.preventDefault();
    binding.run!();
  });
}
