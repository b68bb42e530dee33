// An idempotent start: the workflow id is derived from the input, so a repeated message starts nothing.
import { proxyActivities, sleep } from "@temporalio/workflow";
import type * as activities from "./activities.ts";

const ledger = proxyActivities<typeof activities>({ startToCloseTimeout: "10s" });

export interface Payment {
  readonly number: number;
  readonly cents: number;
}

/** The workflow id, which each caller must use. */
export const paymentId = ({ number }: Payment): string => `payment-${number}`;

export async function pay(payment: Payment): Promise<string> {
  await sleep("1h"); // until it can no longer be withdrawn
  return await ledger.bookPayment(paymentId(payment), payment.cents);
}
