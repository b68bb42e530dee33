// Subscriptions by their names: in history they are changes of a search attribute (converter/subscriptions.ts).
import type { Payload, PayloadConverter } from "../../converter/payload.ts";
import { SUBSCRIPTION_ATTRIBUTE } from "../../converter/subscriptions.ts";
import { shown } from "../values.ts";

/** The name of a thing that changes subscriptions. */
export const isSubscribing = (name: string): boolean => /^(?:un)?subscribe(?: |$)/.test(name);

/** What a run subscribes to as its history goes on. */
export class Subscriptions {
  #now: readonly string[] = [];

  /** Takes search attributes; answers what they change by name ("subscribe enemy_killed:orc"), or undefined when they are others. */
  changed(fields: { readonly [name: string]: Payload } | undefined, converter: PayloadConverter | undefined): string | undefined {
    const payload = fields?.[SUBSCRIPTION_ATTRIBUTE];
    if (payload === undefined) return undefined;
    const read = shown(payload, converter);
    const values = "value" in read && Array.isArray(read.value) ? read.value.map(String) : [];
    const before = this.#now;
    this.#now = values;
    // "name:" stands beside "name:filter" and says nothing more.
    const only = (of: readonly string[], not: readonly string[]) =>
      of.filter((value) => !not.includes(value) && !value.endsWith(":"));
    const added = only(values, before);
    if (added.length > 0) return `subscribe ${added.join(", ")}`;
    return `unsubscribe ${only(before, values).join(", ")}`.trim();
  }
}
