// What went wrong and what to do about it: shown above the rooms until it is closed.
import { type Signal, signal } from "@preact/signals";

export interface Notice {
  /** What failed, with its name. */
  readonly title: string;
  /** Why, where, and what to do. */
  readonly text: string;
  /** What to do, with commands between backticks. */
  readonly advice?: string;
}

export const notices: Signal<readonly Notice[]> = signal<readonly Notice[]>([]);

/** At most this many are in sight; the oldest goes. */
const MOST = 4;

export function notify(notice: Notice): void {
  notices.value = [...notices.value.filter(({ title, text }) => title !== notice.title || text !== notice.text), notice].slice(
    -MOST,
  );
}

export function dismiss(notice: Notice): void {
  notices.value = notices.value.filter((other) => other !== notice);
}
