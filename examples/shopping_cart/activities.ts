// Activities of the shopping cart: payment and mail. Real ones would call other services under the
// idempotency key of the activity.
import type { Item } from "./workflow.ts";

/** Charges the items and returns the total in cents. */
export async function charge(customer: string, items: Item[]): Promise<number> {
  if (customer === "") throw new Error("customer is missing");
  return items.reduce((sum, item) => sum + item.priceCents, 0);
}

export async function refund(customer: string, totalCents: number): Promise<string> {
  return `refund-${customer}-${totalCents}`;
}

export async function sendReceipt(customer: string, totalCents: number): Promise<string> {
  return `receipt-${customer}-${totalCents}`;
}
