// Subscriptions on the wire: a keyword list in the run's search attributes, by which broadcasts
// find runs. A value is the signal's name, or "name:filter" with an additional "name:", because a
// server cannot search a list by prefix.

/** Search attribute of a run's subscriptions. */
export const SUBSCRIPTION_ATTRIBUTE = "WorkflowSubscription";

/**
 * Prefix in the `control` of a broadcast signal without a workflow; the values follow as JSON.
 * Servers reject such a signal.
 */
export const BROADCAST_CONTROL = "temporalex-broadcast ";

/** Local activity for broadcasts of workflow code. */
export const BROADCAST_ACTIVITY = "__temporalex_broadcast";

/** Narrows a subscription: an id, a kind, a place. */
export type SubscriptionFilter = string | number | bigint | boolean;

// ":" ends the name, so it is escaped.
const escaped = (signal: string) => signal.replaceAll("%", "%25").replaceAll(":", "%3A");

/** Returns the filter as text. Throws a TypeError for an invalid filter. */
export function filterText(filter: SubscriptionFilter): string {
  if (!["string", "number", "bigint", "boolean"].includes(typeof filter) || filter === "") {
    throw new TypeError(
      `a filter of subscriptions is a non-empty string, a number or a boolean, not ${
        filter === "" ? '""' : typeof filter
      }`,
    );
  }
  return String(filter);
}

/** Returns the values with an additional subscription; the same list if it is there already. */
export function subscribed(
  values: readonly string[],
  signal: string,
  filter: SubscriptionFilter | undefined,
): readonly string[] {
  const name = escaped(signal);
  const added = filter === undefined ? [name] : [`${name}:`, `${name}:${filterText(filter)}`];
  const missing = added.filter((value) => !values.includes(value));
  return missing.length === 0 ? values : [...values, ...missing];
}

/**
 * Returns the values without one subscription, or without a filter, without all of the signal; the
 * same list if nothing changes.
 */
export function unsubscribed(
  values: readonly string[],
  signal: string,
  filter: SubscriptionFilter | undefined,
): readonly string[] {
  const name = escaped(signal);
  const any = `${name}:`;
  const one = filter === undefined ? undefined : any + filterText(filter);
  let kept = values.filter((value) =>
    one === undefined ? value !== name && !value.startsWith(any) : value !== one
  );
  if (!kept.some((value) => value.startsWith(any) && value !== any)) {
    kept = kept.filter((value) => value !== any);
  }
  return kept.length === values.length ? values : kept;
}

/**
 * Returns the values that a broadcast reaches: with a filter, subscriptions with the same filter or
 * without one; otherwise all of the signal.
 */
export function reached(signal: string, filter: SubscriptionFilter | undefined): string[] {
  const name = escaped(signal);
  return [name, filter === undefined ? `${name}:` : `${name}:${filterText(filter)}`];
}
