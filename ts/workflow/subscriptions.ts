// subscribe and broadcast: signals by subscription instead of workflow id. Subscriptions are a
// search attribute of the run; a broadcast from workflow code is a local activity of every worker,
// so that its marker has the count.
import {
  BROADCAST_ACTIVITY,
  filterText,
  subscribed,
  SUBSCRIPTION_ATTRIBUTE,
  type SubscriptionFilter,
  unsubscribed,
} from "../converter/subscriptions.ts";
import { CANCELLATION } from "../executor/primitives/activities.ts";
import {
  LocalActivityAwaiter,
  prepareLocalActivity,
} from "../executor/primitives/local_activities.ts";
import { recordSearchAttributes } from "../executor/primitives/upserts.ts";
import { callingFiber, waitingFiber } from "../executor/scheduler/api_guard.ts";
import { rejected } from "../executor/scheduler/fiber.ts";
import { defineSearchAttributeKey } from "../converter/search_attributes.ts";
import type { Signal } from "./messages.ts";
import { readRetryPolicy } from "./retry.ts";

const KEY = defineSearchAttributeKey(SUBSCRIPTION_ATTRIBUTE, "KEYWORD_LIST");

// deno-lint-ignore no-explicit-any
type AnySignal = Signal<any> | string;

function nameOf(api: string, signal: AnySignal): string {
  const name: unknown = typeof signal === "string" ? signal : (signal as Signal | undefined)?.name;
  if (typeof name === "string" && name !== "") return name;
  throw new TypeError(`${api} needs a signal or the name of a signal`);
}

function change(
  api: string,
  signal: AnySignal,
  filter: SubscriptionFilter | undefined,
  changed: typeof subscribed,
): void {
  const name = nameOf(api, signal);
  const { run } = callingFiber(api, undefined, 2);
  const before = run.info!.snapshot().typedSearchAttributes.get(KEY) ?? [];
  const value = changed(before, name, filter);
  if (value !== before) {
    recordSearchAttributes(run, [{ key: KEY, value: value.length === 0 ? null : value }]);
  }
}

/**
 * Subscribes to broadcasts of the signal, from the end of this workflow task: with a filter to
 * those with the same filter or none, without a filter to all. Receive the signal like any other.
 * Subscriptions end with the workflow and continue over continue-as-new.
 *
 * @example
 * subscribe(quest.enemyKilled, enemyType);
 * const [killed] = await waitForSignal(quest.enemyKilled);
 */
export function subscribe(signal: AnySignal, filter?: SubscriptionFilter): void {
  change("subscribe", signal, filter, subscribed);
}

/** Ends a subscription; without a filter all of the signal. No-op if not subscribed. */
export function unsubscribe(signal: AnySignal, filter?: SubscriptionFilter): void {
  change("unsubscribe", signal, filter, unsubscribed);
}

const SPEC = prepareLocalActivity({
  activityType: BROADCAST_ACTIVITY,
  scheduleToCloseTimeoutMs: 0,
  scheduleToStartTimeoutMs: 0,
  startToCloseTimeoutMs: 30_000,
  localRetryThresholdMs: 0,
  retryPolicy: readRetryPolicy({ nonRetryableErrorTypes: ["TypeError"] }),
  cancellationType: CANCELLATION.abandon,
  summary: undefined,
});

/**
 * Sends a signal to all subscribed workflows: with a filter to those with the same filter or none,
 * without a filter (undefined) to all. Returns the number of reached workflows.
 *
 * @example
 * const reached = await broadcast(quest.enemyKilled, "orc", { by: "ada" });
 */
export function broadcast<A extends unknown[]>(
  signal: Signal<A> | string,
  filter: SubscriptionFilter | undefined,
  ...args: NoInfer<A>
): Promise<number> {
  const name = nameOf("broadcast", signal);
  const text = filter === undefined ? null : filterText(filter);
  const fiber = waitingFiber(`broadcast of signal "${name}"`);
  if (fiber instanceof Error) return rejected(fiber);
  return new LocalActivityAwaiter(fiber, SPEC, [name, text, ...args]).promise as Promise<number>;
}
