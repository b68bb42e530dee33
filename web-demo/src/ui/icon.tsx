// Icons of buttons, 16 by 16, in the color of their text. The label of the button describes the
// action.
import type { JSX } from "preact";

const filled = (d: string) => <path d={d} fill="currentColor" />;

const PICTURES = {
  start: () => filled("M3 3h1.8v10H3zM13 3 6.5 8l6.5 5z"),
  end: () => filled("M13 3h-1.8v10H13zM3 3l6.5 5L3 13z"),
  taskBack: () => filled("M8 3 2.5 8 8 13zM14 3 8.5 8l5.5 5z"),
  taskForward: () => filled("M8 3l5.5 5L8 13zM2 3l5.5 5L2 13z"),
  back: () => filled("M10.5 3 5 8l5.5 5z"),
  forward: () => filled("M5.5 3 11 8l-5.5 5z"),
  play: () => filled("M4 2.5 13.5 8 4 13.5z"),
  pause: () => filled("M4 3h2.8v10H4zM9.2 3H12v10H9.2z"),
  find: () => (
    <>
      <circle cx="7" cy="7" r="4.4" fill="none" stroke="currentColor" stroke-width="1.6" />
      <path d="m10.4 10.4 3.4 3.4" stroke="currentColor" stroke-width="1.6" />
    </>
  ),
  theme: () => (
    <>
      <circle cx="8" cy="8" r="5.6" fill="none" stroke="currentColor" stroke-width="1.5" />
      <path d="M8 2.4a5.6 5.6 0 0 1 0 11.2z" fill="currentColor" />
    </>
  ),
  close: () => (
    <path d="m4 4 8 8m0-8-8 8" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" />
  ),
  down: () => (
    <path
      d="m4 6 4 4 4-4"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  ),
  chain: () => (
    <g fill="none" stroke="currentColor" stroke-width="1.6">
      <rect x="1.5" y="5" width="6.5" height="6" rx="3" />
      <rect x="8" y="5" width="6.5" height="6" rx="3" />
      <path d="M6 8h4" stroke-linecap="round" />
    </g>
  ),
  right: () => (
    <path
      d="m6 4 4 4-4 4"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  ),
  brand: () => (
    <g transform="scale(0.8)">
      <path
        d="M3 10a7 7 0 1 0 2.6-5.4"
        fill="none"
        stroke="currentColor"
        stroke-width="2.2"
        stroke-linecap="round"
      />
      <path d="M2.2 2.2v5h5z" fill="currentColor" />
      <path d="M10 6v8" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" />
    </g>
  ),
} as const;

export type IconName = keyof typeof PICTURES;

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }): JSX.Element => (
  <svg viewBox="0 0 16 16" width={size} height={size} aria-hidden="true">{PICTURES[name]()}</svg>
);

interface ButtonProps {
  readonly icon: IconName;
  readonly label: string;
  /** The equivalent key, for the tooltip. */
  readonly keyName?: string;
  readonly isOff?: boolean;
  readonly id?: string;
  readonly class?: string;
  onPress(): void;
}

/**
 * A button with only an icon. A disabled one stays focusable, so that the keyboard focus is not
 * lost.
 */
export function IconButton(
  { icon, label, keyName, isOff = false, id, class: more = "", onPress }: ButtonProps,
): JSX.Element {
  return (
    <button
      type="button"
      id={id}
      class={`icon-button ${more}`}
      aria-label={label}
      title={keyName === undefined ? label : `${label} (${keyName})`}
      aria-disabled={isOff}
      onClick={() => !isOff && onPress()}
    >
      <Icon name={icon} />
    </button>
  );
}
