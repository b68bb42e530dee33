// Broadcasts of a client.
import {
  BROADCAST_CONTROL,
  reached,
  SUBSCRIPTION_ATTRIBUTE,
  type SubscriptionFilter,
} from "../converter/subscriptions.ts";
import { randomId } from "../platform/host.ts";
import { broadcastSignal } from "../service/broadcast.ts";
import type { Deadline } from "./calls.ts";
import { type ClientContext, encodeArgs, nameError } from "./context.ts";
import { definitionName } from "./definitions.ts";
import { BroadcastIncompleteError } from "./errors.ts";

export async function sendBroadcast(
  context: ClientContext,
  signal: string,
  filter: SubscriptionFilter | undefined,
  args: readonly unknown[],
  deadline: Deadline,
): Promise<number> {
  const { calls, namespace, identity } = context;
  const signalName = definitionName(signal);
  const what = `the broadcast of signal "${signalName}"`;
  const payloads = encodeArgs(context, `the arguments of ${what}`, args);
  try {
    const { reached: count, missed } = await broadcastSignal({
      signalWorkflowExecution: (request) =>
        calls.call("signalWorkflowExecution", request, deadline),
      listWorkflowExecutions: (request) => calls.call("listWorkflowExecutions", request, deadline),
    }, {
      namespace,
      identity,
      signalName,
      input: payloads as never,
      requestId: randomId(),
      attribute: SUBSCRIPTION_ATTRIBUTE,
      values: reached(signalName, filter),
      control: BROADCAST_CONTROL,
    });
    if (missed.length > 0) throw new BroadcastIncompleteError(what, count, missed);
    return count;
  } catch (error) {
    throw nameError(context, error, { what });
  }
}
