// Calls of the model and its tools. A result is recorded once: a restart does not repeat the call.
import { activityInfo } from "temporalex/activity";
import { type Message, nextStep, type Step } from "./model.ts";

/** Calls of the model so far, for the output of the example. */
export const usage = { calls: 0 };

export async function askModel(transcript: readonly Message[]): Promise<Step> {
  usage.calls++;
  if (usage.calls === 1) throw new Error("the model is overloaded"); // retried
  return nextStep(transcript);
}

export async function findOrder(order: string): Promise<string> {
  return `${order} was delivered on Monday.`;
}

export async function refund(order: string): Promise<string> {
  const { workflowId, activityId } = activityInfo();
  // A key that is the same for every attempt: a payment service books it once.
  return `${order} is refunded (${workflowId}/${activityId}).`;
}
