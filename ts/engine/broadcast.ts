// Broadcasts: signals to all open runs whose subscription is committed. Earlier calls are committed
// first, so that the store has their subscriptions. All signals of a broadcast are one transaction.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BROADCAST_CONTROL, SUBSCRIPTION_ATTRIBUTE } from "../converter/subscriptions.ts";
import {
  SignalWorkflowExecutionRequestSchema,
  SignalWorkflowExecutionResponseSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { WorkflowExecutionSchema } from "../messages/generated/temporal/api/common/v1/message_pb.ts";
import { readTextField } from "../messages/wire.ts";
import { type MissedSubscriber, outcomeText, refusalOfOne } from "../service/broadcast.ts";
import type { MethodName } from "../service/raw.ts";
import { invalid } from "./host_bytes.ts";
import type { Store } from "./store.ts";

/** The field `control` of SignalWorkflowExecutionRequest. */
const CONTROL = 58;

export function isBroadcast(method: MethodName, request: Uint8Array): boolean {
  return method === "signalWorkflowExecution" &&
    readTextField(request, CONTROL).startsWith(BROADCAST_CONTROL);
}

/** Sends the signals of a broadcast. `send` is called for every run before the first await. */
export async function broadcastToRuns(
  store: Pick<Store, "subscribers">,
  request: Uint8Array,
  send: (signal: Uint8Array) => Promise<unknown>,
): Promise<Uint8Array> {
  const { runs, signals } = signalsOf(store, request);
  return responseOf(runs, await Promise.allSettled(signals.map(send)));
}

/** Sends the signals of a broadcast one after the other. `send` throws the error of a signal. */
export function tryBroadcast(
  store: Pick<Store, "subscribers">,
  request: Uint8Array,
  send: (signal: Uint8Array) => void,
): Uint8Array {
  const { runs, signals } = signalsOf(store, request);
  const answers = signals.map((signal): PromiseSettledResult<unknown> => {
    try {
      return { status: "fulfilled", value: send(signal) };
    } catch (reason) {
      return { status: "rejected", reason };
    }
  });
  return responseOf(runs, answers);
}

type Subscriber = ReturnType<Store["subscribers"]>[number];

/** Returns the subscribers and the signal of each. */
function signalsOf(store: Pick<Store, "subscribers">, request: Uint8Array) {
  const { control, workflowExecution, ...signal } = fromBinary(
    SignalWorkflowExecutionRequestSchema,
    request,
  );
  if (workflowExecution !== undefined) throw invalid("a broadcast has no workflow");
  const runs = store.subscribers(SUBSCRIPTION_ATTRIBUTE, valuesOf(control));
  const signals = runs.map(({ workflowId, runId }) =>
    toBinary(SignalWorkflowExecutionRequestSchema, {
      ...signal,
      control: "",
      workflowExecution: create(WorkflowExecutionSchema, { workflowId, runId }),
    })
  );
  return { runs, signals };
}

function responseOf(
  runs: readonly Subscriber[],
  answers: readonly PromiseSettledResult<unknown>[],
): Uint8Array {
  const missed: MissedSubscriber[] = [];
  let reached = 0;
  for (const [i, answer] of answers.entries()) {
    if (answer.status === "fulfilled") reached++;
    // A run that closed in the meantime counts as missed. A failed commit throws: no run has the
    // signal.
    else if (refusalOfOne(answer.reason) === "missed") {
      const { workflowId, runId } = runs[i]!;
      missed.push({ workflowId, runId, reason: (answer.reason as Error).message });
    }
  }
  const jobId = outcomeText({ reached, missed });
  return toBinary(
    SignalWorkflowExecutionResponseSchema,
    create(SignalWorkflowExecutionResponseSchema, {
      link: { variant: { case: "batchJob", value: { jobId } } },
    }),
  );
}

function valuesOf(control: string): string[] {
  try {
    const values: unknown = JSON.parse(control.slice(BROADCAST_CONTROL.length));
    if (Array.isArray(values) && values.every((value) => typeof value === "string")) return values;
  } catch {
    // Rejected below.
  }
  throw invalid("the control field of a broadcast is invalid");
}
