// Activities of the example. The charge takes long enough to close the tab during it: the next
// leader runs it again with the same idempotency key.
import * as example from "../../../examples/shopping_cart/activities.ts";

export { refund, sendReceipt } from "../../../examples/shopping_cart/activities.ts";

const CHARGE_MS = 2500;

export async function charge(...args: Parameters<typeof example.charge>): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, CHARGE_MS));
  return await example.charge(...args);
}
