// Activities: ordinary functions. Each attempt may be followed by another, so they use the
// idempotency key where a second time would harm.
import { activityContext, activityInfo } from "temporalex/activity";
import { ApplicationFailure } from "temporalex/workflow";

const PRICES: Record<string, number> = { book: 12, pen: 2 };

/** Takes the money. */
export function charge(item: string, count: number): Promise<number> {
  const price = PRICES[item];
  // Trying again would not help.
  if (price === undefined) {
    throw new ApplicationFailure(`unknown item "${item}"`, {
      type: "UnknownItem",
      nonRetryable: true,
    });
  }
  activityContext().logger.info("charged", { idempotencyKey: activityInfo().idempotencyKey });
  return Promise.resolve(price * count);
}

/**
 * Packs one after the other, and reports its progress after each: after an interruption the next
 * attempt resumes there.
 */
export async function pack(item: string, count: number, packingMs: number): Promise<string> {
  const { heartbeat, sleep, info, logger } = activityContext();
  let packed = typeof info.heartbeatDetails === "number" ? info.heartbeatDetails : 0;
  logger.info("packing", { packed, count });
  while (packed < count) {
    await sleep(packingMs);
    heartbeat(++packed);
  }
  return `${count} x ${item}`;
}
