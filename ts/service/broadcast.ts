// A signal to all runs that have subscribed to it. The embedded engine does it as one operation: a signal without a workflow whose control
// names the values that it is for, so that it passes every connection as any signal. A server refuses a signal without a workflow; there the
// runs are listed by their search attribute and signalled one by one.
import type { SignalWorkflowExecutionRequest } from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { Code, ServiceError } from "./raw.ts";
import type { TypedService } from "./typed.ts";

/** Asks the service: with the retries and the deadline of who calls. */
export type BroadcastCalls = Pick<TypedService, "signalWorkflowExecution" | "listWorkflowExecutions">;

/** What is sent, and to whom. */
export interface Broadcast {
  readonly namespace: string;
  readonly identity: string;
  readonly signalName: string;
  /** The arguments. */
  readonly input: SignalWorkflowExecutionRequest["input"];
  /** Two broadcasts with one id reach a run once. */
  readonly requestId: string;
  /** The search attribute, and its values that are reached. */
  readonly attribute: string;
  readonly values: readonly string[];
  /** What the engine knows a broadcast by. */
  readonly control: string;
}

/** A subscriber that did not get the signal. */
export interface MissedSubscriber {
  /** Id of the workflow. */
  readonly workflowId: string;
  /** The run that had subscribed. */
  readonly runId: string;
  /** What the service said. */
  readonly reason: string;
}

/** What became of a broadcast. */
export interface BroadcastOutcome {
  /** Runs that have the signal. */
  readonly reached: number;
  /** Runs that had subscribed and do not have it. Those that had ended are in neither. */
  readonly missed: readonly MissedSubscriber[];
}

/** The outcome as an engine writes it into the answer, in the id of a batch job. */
export const outcomeText = ({ reached, missed }: BroadcastOutcome): string =>
  missed.length === 0 ? String(reached) : JSON.stringify({ reached, missed });

function readOutcome(text: string): BroadcastOutcome {
  return text.startsWith("{") ? JSON.parse(text) as BroadcastOutcome : { reached: Number(text), missed: [] };
}

/**
 * Sorts what sending to one run threw: "ended" is no subscriber any more, "missed" is one that did not take it. Everything else is thrown:
 * it is about the whole call, which may be asked again.
 */
export function refusalOfOne(error: unknown): "ended" | "missed" {
  if (!(error instanceof ServiceError)) throw error;
  if (error.code === Code.NOT_FOUND) return "ended";
  // A run's own limits: its inbox is full, its history is at its end.
  if (error.code === Code.RESOURCE_EXHAUSTED || error.code === Code.FAILED_PRECONDITION) return "missed";
  throw error;
}

/** Signals that are on their way at the same time. */
const AT_ONCE = 20;
/** Error of a server's visibility for an attribute that it does not know. */
const UNKNOWN_ATTRIBUTE = /is not a valid search attribute|invalid search attribute/;

/** Answers which runs were reached. Throws a ServiceError. */
export async function broadcastSignal(calls: BroadcastCalls, broadcast: Broadcast): Promise<BroadcastOutcome> {
  const { namespace, identity, signalName, input, requestId, values, control } = broadcast;
  const signal = { namespace, identity, signalName, ...(input !== undefined && { input }), requestId };
  try {
    const { link } = await calls.signalWorkflowExecution({ ...signal, control: control + JSON.stringify(values) });
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
        // It may have ended since it was listed.
        if (refusalOfOne(error) === "missed") missed.push({ ...run, reason: (error as Error).message });
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
      const page = await calls.listWorkflowExecutions({ namespace, query, pageSize: 1000, nextPageToken });
      for (const { execution } of page.executions) {
        if (execution !== undefined) runs.push({ workflowId: execution.workflowId, runId: execution.runId });
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
