// Tabs for the keyboard: one tab stop, arrows move between them.
import type { Signal } from "@preact/signals";
import type { JSX } from "preact";

interface Props<T extends string> {
  readonly label: string;
  readonly class?: string;
  readonly tabs: readonly (readonly [T, string])[];
  readonly chosen: Signal<T>;
}

export function Tabs<T extends string>(
  { label, class: more = "", tabs, chosen }: Props<T>,
): JSX.Element {
  const move = (event: KeyboardEvent, by: number) => {
    event.preventDefault();
    const at = tabs.findIndex(([name]) => name === chosen.value);
    const next = (at + by + tabs.length) % tabs.length;
    chosen.value = tabs[next]![0];
    (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("[role=tab]")[next]?.focus();
  };
  return (
    <div
      class={`tabs ${more}`}
      role="tablist"
      aria-label={label}
      onKeyDown={(event) => {
        if (event.key === "ArrowRight") move(event, 1);
        if (event.key === "ArrowLeft") move(event, -1);
      }}
    >
      {tabs.map(([name, text]) => (
        <button
          type="button"
          role="tab"
          key={name}
          aria-selected={chosen.value === name}
          tabIndex={chosen.value === name ? 0 : -1}
          onClick={() => (chosen.value = name)}
        >
          {text}
        </button>
      ))}
    </div>
  );
}
