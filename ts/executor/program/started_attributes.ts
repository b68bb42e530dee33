// What programs read of a run's start (WorkflowExecutionStartedEventAttributes), by a scan of its
// fields: building the message's descriptor takes longer than the rest of a realm's first task.
import {
  MapEntry,
  Memo,
  Payloads,
  SearchAttributes,
  WorkflowExecution,
  WorkflowExecutionStartedEventAttributes as Started,
} from "../../messages/generated/fields.ts";
import { Fields, timeMs } from "../../messages/wire.ts";
import { Payload as PayloadCodec } from "../../core/generated/boundary/temporal/api/common/v1/message.ts";
import type { Payload } from "../../converter/payload.ts";

/** Identifies a workflow execution. */
export interface ExecutionRef {
  readonly workflowId: string;
  readonly runId: string;
}

/** Parts of the start. Messages that few runs have are encoded. */
export interface StartedAttributes {
  readonly parent: ExecutionRef | undefined;
  /** "" without a parent. */
  readonly parentNamespace: string;
  readonly root: ExecutionRef | undefined;
  readonly originalRunId: string;
  readonly cronSchedule: string;
  readonly memo: { readonly [key: string]: Payload };
  readonly searchAttributes: { readonly [key: string]: Payload };
  readonly lastResult: readonly Payload[];
  /** Encoded temporal.api.failure.v1.Failure of the previous run. */
  readonly continuedFailure: Uint8Array | undefined;
  /** Encoded temporal.api.common.v1.RetryPolicy. */
  readonly retryPolicy: Uint8Array | undefined;
  /** Encoded temporal.api.common.v1.Priority. */
  readonly priority: Uint8Array | undefined;
  /** Milliseconds since the epoch; undefined without an execution timeout. */
  readonly expirationMs: number | undefined;
  /** Milliseconds; undefined if the first task was not delayed. */
  readonly firstTaskBackoffMs: number | undefined;
}

/** Scans encoded WorkflowExecutionStartedEventAttributes. */
export function scanStarted(bytes: Uint8Array): StartedAttributes {
  const found = {
    parent: undefined as ExecutionRef | undefined,
    parentNamespace: "",
    root: undefined as ExecutionRef | undefined,
    originalRunId: "",
    cronSchedule: "",
    // Without a prototype, so that a key "__proto__" is an ordinary key.
    memo: Object.create(null) as { [key: string]: Payload },
    searchAttributes: Object.create(null) as { [key: string]: Payload },
    lastResult: [] as Payload[],
    continuedFailure: undefined as Uint8Array | undefined,
    retryPolicy: undefined as Uint8Array | undefined,
    priority: undefined as Uint8Array | undefined,
    expirationMs: undefined as number | undefined,
    firstTaskBackoffMs: undefined as number | undefined,
  };
  for (const at = new Fields(bytes); at.next();) {
    switch (at.tag) {
      case Started.parentWorkflowExecution:
        found.parent = execution(at.inner());
        break;
      case Started.parentWorkflowNamespace:
        found.parentNamespace = at.text();
        break;
      case Started.rootWorkflowExecution:
        found.root = execution(at.inner());
        break;
      case Started.originalExecutionRunId:
        found.originalRunId = at.text();
        break;
      case Started.cronSchedule:
        found.cronSchedule = at.text();
        break;
      case Started.memo:
        record(found.memo, at.inner(), Memo.fields);
        break;
      case Started.searchAttributes:
        record(found.searchAttributes, at.inner(), SearchAttributes.indexedFields);
        break;
      case Started.lastCompletionResult:
        for (const of = at.inner(); of.next();) {
          if (of.tag === Payloads.payloads) found.lastResult.push(PayloadCodec.decode(of.bytes()));
        }
        break;
      case Started.continuedFailure:
        found.continuedFailure = at.bytes();
        break;
      case Started.retryPolicy:
        found.retryPolicy = at.bytes();
        break;
      case Started.priority:
        found.priority = at.bytes();
        break;
      case Started.workflowExecutionExpirationTime:
        found.expirationMs = Math.round(timeMs(at.bytes()));
        break;
      case Started.firstWorkflowTaskBackoff:
        found.firstTaskBackoffMs = Math.round(timeMs(at.bytes()));
        break;
    }
  }
  return found;
}

function execution(at: Fields): ExecutionRef {
  let [workflowId, runId] = ["", ""];
  while (at.next()) {
    if (at.tag === WorkflowExecution.workflowId) workflowId = at.text();
    else if (at.tag === WorkflowExecution.runId) runId = at.text();
  }
  return { workflowId, runId };
}

/** Reads the payloads of a map in the field `entries`. */
function record(into: { [key: string]: Payload }, at: Fields, entries: number): void {
  while (at.next()) {
    if (at.tag !== entries) continue;
    let key = "";
    for (const of = at.inner(); of.next();) {
      if (of.tag === MapEntry.key) key = of.text();
      else if (of.tag === MapEntry.value) into[key] = PayloadCodec.decode(of.bytes());
    }
  }
}
