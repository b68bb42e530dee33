// Cheap looks into encoded messages: which run and program a workflow task or a history belongs to, without decoding the history. Field
// numbers are those of temporal/api/workflowservice/v1 and temporal/api/history/v1.
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";

/** What the task loop must know of a PollWorkflowTaskQueueResponse before it can hand it to the core. */
export interface TaskHead {
  readonly taskToken: Uint8Array;
  readonly workflowId: string;
  readonly runId: string;
  readonly workflowType: string;
  /** It is one query, of this name. */
  readonly query?: string;
  /** Names of the queries that came with it. */
  readonly queries?: readonly string[];
}

/** Walks the length-delimited fields of a message; the others are skipped. */
export function scanFields(bytes: Uint8Array, field: (number: number, value: Uint8Array) => boolean | void): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type === 2) {
      if (field(number, reader.bytes()) === false) return;
    } else reader.skip(type);
  }
}

const decoder = new TextDecoder();
const text = (bytes: Uint8Array): string => decoder.decode(bytes);

/** Field `number` of a message, as text; "" when absent. */
function textField(bytes: Uint8Array, wanted: number): string {
  let found = "";
  scanFields(bytes, (number, value) => {
    if (number === wanted) found = text(value);
  });
  return found;
}

/** Throws for bytes that are no protobuf message. */
export function scanTask(poll: Uint8Array): TaskHead {
  let taskToken: Uint8Array = new Uint8Array(0);
  let workflowId = "";
  let runId = "";
  let workflowType = "";
  let query: string | undefined;
  let queries: string[] | undefined;
  scanFields(poll, (number, value) => {
    switch (number) {
      case 1:
        taskToken = value;
        break;
      case 2:
        workflowId = textField(value, 1);
        runId = textField(value, 2);
        break;
      case 3:
        workflowType = textField(value, 1);
        break;
      case 10:
        query = textField(value, 1);
        break;
      case 14:
        // An entry of a map: its value is the query.
        scanFields(value, (part, entry) => {
          if (part === 2) (queries ??= []).push(textField(entry, 1));
        });
        break;
    }
  });
  const head = { taskToken, workflowId, runId, workflowType };
  if (query === undefined && queries === undefined) return head;
  return { ...head, ...(query !== undefined && { query }), ...(queries !== undefined && { queries }) };
}

export interface HistoryHead {
  readonly workflowType: string;
  readonly runId: string;
}

/** Type and first run id of a History, from its first event. */
export function scanHistory(history: Uint8Array): HistoryHead {
  let workflowType = "";
  let runId = "";
  scanFields(history, (number, event) => {
    if (number !== 1) return true;
    scanFields(event, (attribute, attributes) => {
      // WorkflowExecutionStartedEventAttributes
      if (attribute !== 6) return;
      scanFields(attributes, (part, value) => {
        if (part === 1) workflowType = textField(value, 1);
        else if (part === 14) runId = text(value);
      });
    });
    return false;
  });
  return { workflowType, runId };
}

/**
 * A RespondWorkflowTaskFailedRequest whose failure has another message: an embedded message that occurs twice is merged, and the later
 * scalar wins, so nothing is decoded.
 */
export function withFailureMessage(request: Uint8Array, message: string): Uint8Array {
  return new BinaryWriter().raw(request).uint32(26).fork().uint32(10).string(message).join().finish();
}

/** A RespondWorkflowTaskFailedRequest made here, for a task whose run in the core is lost. */
export function taskFailedRequest(fields: {
  taskToken: Uint8Array;
  cause: number;
  failure: Uint8Array;
  identity: string;
  namespace: string;
}): Uint8Array {
  const writer = new BinaryWriter();
  writer.uint32(10).bytes(fields.taskToken);
  writer.uint32(16).int32(fields.cause);
  writer.uint32(26).bytes(fields.failure);
  writer.uint32(34).string(fields.identity);
  writer.uint32(50).string(fields.namespace);
  return writer.finish();
}
