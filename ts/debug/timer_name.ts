// The name of a timer, from the summary of its TimerStarted event. `timer("arrival", ...)` has a
// summary of one word, which is the name. `sleep("1d", { summary })` may have any sentence, which
// is shown like a value.
import type { Payload, PayloadConverter } from "../converter/payload.ts";
import { readPayload } from "./values.ts";

/** A name has no spaces and is short. */
const NAME = /^[\p{L}\p{N}_.:/-]{1,64}$/u;

/** Returns the summary of a timer; "" if it is missing or cannot be decoded. */
export function readTimerSummary(
  summary: Payload | undefined,
  converter?: PayloadConverter,
): string {
  if (summary === undefined) return "";
  const read = readPayload(summary, converter);
  return "value" in read && typeof read.value === "string" ? read.value.trim() : "";
}

/** Returns the name in a summary; "" for other texts. */
export const readTimerName = (summary: string): string => NAME.test(summary) ? summary : "";
