// Subscriptions by name. History stores them as changes of a search attribute
// (converter/subscriptions.ts).
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import { SUBSCRIPTION_ATTRIBUTE } from "../../converter/subscriptions.ts";
import { readPayload } from "../values.ts";

/** Returns whether an item with this name changes subscriptions. */
export const isSubscribing = (name: string): boolean => /^(?:un)?subscribe(?: |$)/.test(name);

/** The current subscriptions of a run, updated event by event. */
export class Subscriptions {
  #now: readonly string[] = [];

  /**
   * Applies search attributes. Returns the change by name ("subscribe enemy_killed:orc"); undefined
   * for other attributes.
   */
  changed(
    fields: { readonly [name: string]: Payload } | undefined,
    converter: PayloadConverter | undefined,
  ): string | undefined {
    const payload = fields?.[SUBSCRIPTION_ATTRIBUTE];
    if (payload === undefined) return undefined;
    const read = readPayload(payload, converter);
    const values = "value" in read && Array.isArray(read.value) ? read.value.map(String) : [];
    const before = this.#now;
    this.#now = values;
    // "name:" is recorded next to "name:filter" and adds nothing.
    const only = (of: readonly string[], not: readonly string[]) =>
      of.filter((value) => !not.includes(value) && !value.endsWith(":"));
    const added = only(values, before);
    if (added.length > 0) return `subscribe ${added.join(", ")}`;
    return `unsubscribe ${only(before, values).join(", ")}`.trim();
  }
}
