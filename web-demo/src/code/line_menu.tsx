// The menu of a line: run to here, next or previous run of the line, log point, breakpoint, open in
// the editor.
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

export interface LineAction {
  readonly label: string;
  readonly keyName?: string;
  /** Why the item is disabled; undefined if it is enabled. */
  readonly off?: string | undefined;
  run(): void;
}

export interface OpenMenu {
  readonly line: number;
  readonly x: number;
  readonly y: number;
}

interface Props {
  readonly menu: Signal<OpenMenu | undefined>;
  readonly actions: readonly LineAction[];
  /** Receives the focus when the menu closes. */
  onClose(): void;
}

export function LineMenu({ menu, actions, onClose }: Props): JSX.Element | null {
  const element = useRef<HTMLDivElement>(null);
  const open = menu.value;
  const close = () => {
    menu.value = undefined;
    onClose();
  };
  useLayoutEffect(() => {
    const box = element.current;
    if (open === undefined || box === null) return;
    const { width, height } = box.getBoundingClientRect();
    box.style.left = `${Math.max(4, Math.min(open.x, innerWidth - width - 4))}px`;
    box.style.top = `${
      Math.max(4, open.y + height > innerHeight - 4 ? open.y - height - 21 : open.y)
    }px`;
    box.querySelector<HTMLElement>("[role=menuitem]")?.focus();
  }, [open]);
  useEffect(() => {
    if (open === undefined) return;
    const away = (event: Event) => {
      if (!element.current?.contains(event.target as Node)) menu.value = undefined;
    };
    addEventListener("pointerdown", away);
    return () => removeEventListener("pointerdown", away);
  }, [open]);
  if (open === undefined) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    const items = [...element.current!.querySelectorAll<HTMLElement>("[role=menuitem]")];
    const at = items.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape" || event.key === "Tab") close();
    else if (event.key === "ArrowDown") items[(at + 1) % items.length]!.focus();
    else if (event.key === "ArrowUp") items[(at - 1 + items.length) % items.length]!.focus();
    else if (event.key === "Home") items[0]!.focus();
    else if (event.key === "End") items.at(-1)!.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      class="line-menu"
      role="menu"
      aria-label={`Line ${open.line}`}
      ref={element}
      onKeyDown={onKeyDown}
    >
      {actions.map(({ label, keyName, off, run }) => (
        <button
          type="button"
          role="menuitem"
          key={label}
          tabIndex={-1}
          aria-disabled={off !== undefined}
          title={off}
          onClick={() => {
            if (off !== undefined) return;
            close();
            run();
          }}
        >
          {label} {keyName !== undefined && <kbd>{keyName}</kbd>}
        </button>
      ))}
    </div>
  );
}
