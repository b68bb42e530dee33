// Subscriptions on the wire: a keyword list among the run's search attributes, which broadcasts find runs by. A value is the signal's name,
// or "name:filter"; beside filtered ones stands "name:", because a server cannot look for the beginning of a keyword in a list.

/** The search attribute that holds a run's subscriptions. */
export const SUBSCRIPTION_ATTRIBUTE = "WorkflowSubscription";

/** What a broadcast says in the `control` of a signal without a workflow, before its values as JSON. Servers refuse such a signal. */
export const BROADCAST_CONTROL = "temporalex-broadcast ";

/** The local activity by which workflow code broadcasts. */
export const BROADCAST_ACTIVITY = "__temporalex_broadcast";

/** What a subscription is narrowed to: an id, a kind, a place. */
export type SubscriptionFilter = string | number | bigint | boolean;

// A ":" ends the name, so the name has none.
const escaped = (signal: string) => signal.replaceAll("%", "%25").replaceAll(":", "%3A");

/** The filter as text. Throws a TypeError for what is none. */
export function filterText(filter: SubscriptionFilter): string {
  if (!["string", "number", "bigint", "boolean"].includes(typeof filter) || filter === "") {
    throw new TypeError(
      `a filter of subscriptions is a non-empty string, a number or a boolean, not ${filter === "" ? '""' : typeof filter}`,
    );
  }
  return String(filter);
}

/** The values of a run with one more subscription; the same list where it has it already. */
export function subscribed(values: readonly string[], signal: string, filter: SubscriptionFilter | undefined): readonly string[] {
  const name = escaped(signal);
  const added = filter === undefined ? [name] : [`${name}:`, `${name}:${filterText(filter)}`];
  const missing = added.filter((value) => !values.includes(value));
  return missing.length === 0 ? values : [...values, ...missing];
}

/** The values without one subscription, or, without a filter, without all of the signal; the same list where it had none. */
export function unsubscribed(
  values: readonly string[],
  signal: string,
  filter: SubscriptionFilter | undefined,
): readonly string[] {
  const name = escaped(signal);
  const any = `${name}:`;
  const one = filter === undefined ? undefined : any + filterText(filter);
  let kept = values.filter((value) => one === undefined ? value !== name && !value.startsWith(any) : value !== one);
  if (!kept.some((value) => value.startsWith(any) && value !== any)) kept = kept.filter((value) => value !== any);
  return kept.length === values.length ? values : kept;
}

/** The values that a broadcast reaches: with a filter those of the same and those without one; without a filter every one of the signal. */
export function reached(signal: string, filter: SubscriptionFilter | undefined): string[] {
  const name = escaped(signal);
  return [name, filter === undefined ? `${name}:` : `${name}:${filterText(filter)}`];
}
