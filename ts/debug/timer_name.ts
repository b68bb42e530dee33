// What code calls a timer: the summary of its TimerStarted event. `timer("arrival", ...)` gives one word, which is the timer's name;
// `sleep("1d", { summary })` may give a sentence, which may say anything, so it is shown as a value is.
import type { Payload, PayloadConverter } from "../converter/payload.ts";
import { shown } from "./values.ts";

/** A name has no spaces, and is short enough to be one. */
const NAME = /^[\p{L}\p{N}_.:/-]{1,64}$/u;

/** The text that a timer was started with; "" for none, and for one that cannot be read. */
export function timerSummary(summary: Payload | undefined, converter?: PayloadConverter): string {
  if (summary === undefined) return "";
  const read = shown(summary, converter);
  return "value" in read && typeof read.value === "string" ? read.value.trim() : "";
}

/** Its name; "" for a text that is none. */
export const nameIn = (summary: string): string => NAME.test(summary) ? summary : "";
