// A partner that needs hours for a check, and then calls a webhook with the token of the request.
import { activityInfo, completeAsync } from "temporalex/activity";

/** Tokens of requested checks, as the partner stores them. */
export const requested = new Map<string, Uint8Array>();

export async function checkCustomer(customer: string): Promise<string> {
  requested.set(customer, activityInfo().taskToken);
  return completeAsync();
}
