// Error notices, shown above the rooms until they are closed.
import { type Signal, signal } from "@preact/signals";

export interface Notice {
  /** Names the thing that failed. */
  readonly title: string;
  /** The cause, and the place. */
  readonly text: string;
  /** What the user can do; commands between backticks. */
  readonly advice?: string;
}

export const notices: Signal<readonly Notice[]> = signal<readonly Notice[]>([]);

/** Notices at a time; the oldest is removed. */
const MOST = 4;

export function notify(notice: Notice): void {
  notices.value = [
    ...notices.value.filter(({ title, text }) => title !== notice.title || text !== notice.text),
    notice,
  ].slice(
    -MOST,
  );
}

export function dismiss(notice: Notice): void {
  notices.value = notices.value.filter((other) => other !== notice);
}
