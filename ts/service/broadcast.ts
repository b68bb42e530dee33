// Sends a signal to every run that has subscribed to it. The embedded engine does this in one
// operation: a signal without a workflow, whose control names the values. A server rejects such a
// signal; there the runs are listed by their search attribute and signaled one by one.
import type { SignalWorkflowExecutionRequest } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code, ServiceError } from "./raw.ts";
import type { TypedService } from "./typed.ts";

/** Calls of the service, with the retries and the deadline of the caller. */
export type BroadcastCalls = Pick<
  TypedService,
  "signalWorkflowExecution" | "listWorkflowExecutions"
>;

/** The signal and its receivers. */
export interface Broadcast {
  readonly namespace: string;
  readonly identity: string;
  readonly signalName: string;
  readonly input: SignalWorkflowExecutionRequest["input"];
  /** Two broadcasts with one id reach a run once. */
  readonly requestId: string;
  /** Search attribute that holds subscriptions. */
  readonly attribute: string;
  readonly values: readonly string[];
  /** Marks the signal as a broadcast for the engine. */
  readonly control: string;
}

/** A subscriber that did not get the signal. */
export interface MissedSubscriber {
  readonly workflowId: string;
  /** Id of the subscribed run. */
  readonly runId: string;
  /** Message of the service's error. */
  readonly reason: string;
}

export interface BroadcastOutcome {
  /** Runs that received the signal. */
  readonly reached: number;
  /** Subscribed runs that did not receive it. Closed runs are counted in neither. */
  readonly missed: readonly MissedSubscriber[];
}

/** Formats the outcome as an engine returns it, in the id of a batch job. */
export const outcomeText = ({ reached, missed }: BroadcastOutcome): string =>
  missed.length === 0 ? String(reached) : JSON.stringify({ reached, missed });

/** Reads the outcome that an engine returned. */
export function readOutcome(text: string): BroadcastOutcome {
  return text.startsWith("{")
    ? JSON.parse(text) as BroadcastOutcome
    : { reached: Number(text), missed: [] };
}

/**
 * Classifies the error of a signal to one run: "ended" is a closed run, "missed" a run that
 * rejected the signal. Rethrows every other error, which concerns the whole call; that call can be
 * retried.
 */
export function refusalOfOne(error: unknown): "ended" | "missed" {
  if (!(error instanceof ServiceError)) throw error;
  if (error.code === Code.NOT_FOUND) return "ended";
  // The run's own limits: its inbox is full, or its history has reached its maximum size.
  if (error.code === Code.RESOURCE_EXHAUSTED || error.code === Code.FAILED_PRECONDITION) {
    return "missed";
  }
  throw error;
}

/** Signals in flight at the same time. */
const AT_ONCE = 20;
/** Error of a server's visibility for an attribute that it does not know. */
const UNKNOWN_ATTRIBUTE = /is not a valid search attribute|invalid search attribute/;

/** Signals all subscribed runs. Throws a ServiceError. */
export async function broadcastSignal(
  calls: BroadcastCalls,
  broadcast: Broadcast,
): Promise<BroadcastOutcome> {
  const { namespace, identity, signalName, input, requestId, values, control } = broadcast;
  const signal = {
    namespace,
    identity,
    signalName,
    ...(input !== undefined && { input }),
    requestId,
  };
  try {
    const { link } = await calls.signalWorkflowExecution({
      ...signal,
      control: control + JSON.stringify(values),
    });
    return readOutcome(link?.variant.case === "batchJob" ? link.variant.value.jobId : "0");
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== Code.INVALID_ARGUMENT) throw error;
    if (!/^(Execution|WorkflowId) is not set on request/.test(error.message)) throw error;
  }
  const runs = await subscribers(calls, broadcast);
  const missed: MissedSubscriber[] = [];
  let reached = 0, at = 0;
  const send = async () => {
    for (let run = runs[at++]; run !== undefined; run = runs[at++]) {
      try {
        await calls.signalWorkflowExecution({ ...signal, workflowExecution: run });
        reached++;
      } catch (error) {
        // The run may have closed since it was listed.
        if (refusalOfOne(error) === "missed") {
          missed.push({ ...run, reason: (error as Error).message });
        }
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, runs.length) }, send));
  return { reached, missed };
}

async function subscribers(calls: BroadcastCalls, { namespace, attribute, values }: Broadcast) {
  const list = values.map((value) => `'${value.replaceAll("'", "''")}'`).join(", ");
  const query = `${attribute} IN (${list}) AND ExecutionStatus = 'Running'`;
  const runs: { workflowId: string; runId: string }[] = [];
  let nextPageToken: Uint8Array = new Uint8Array(0);
  do {
    try {
      const page = await calls.listWorkflowExecutions({
        namespace,
        query,
        pageSize: 1000,
        nextPageToken,
      });
      for (const { execution } of page.executions) {
        if (execution !== undefined) {
          runs.push({ workflowId: execution.workflowId, runId: execution.runId });
        }
      }
      nextPageToken = page.nextPageToken;
    } catch (error) {
      if (error instanceof ServiceError && UNKNOWN_ATTRIBUTE.test(error.message)) {
        throw new ServiceError(
          Code.FAILED_PRECONDITION,
          `namespace ${namespace} does not know the search attribute ${attribute}, in which subscriptions are kept; register it once: ` +
            `temporal operator search-attribute create --namespace ${namespace} --name ${attribute} --type KeywordList`,
          "",
          {},
          { cause: error },
        );
      }
      throw error;
    }
  } while (nextPageToken.length > 0);
  return runs;
}
