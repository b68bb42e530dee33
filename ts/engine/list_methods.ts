// Lists of workflows: by query, and the older methods, whose filters become conditions.
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type { WorkflowExecutionInfoSchema } from "../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import {
  type ListClosedWorkflowExecutionsRequest,
  ListClosedWorkflowExecutionsRequestSchema,
  ListClosedWorkflowExecutionsResponseSchema,
  type ListOpenWorkflowExecutionsRequest,
  ListOpenWorkflowExecutionsRequestSchema,
  ListOpenWorkflowExecutionsResponseSchema,
  ListWorkflowExecutionsRequestSchema,
  ListWorkflowExecutionsResponseSchema,
  ScanWorkflowExecutionsRequestSchema,
  ScanWorkflowExecutionsResponseSchema,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import type { MethodName } from "../service/raw.ts";
import { decodeMessage, encodeMessage, invalid, invalidPageToken } from "./host_bytes.ts";
import type { Condition, ListPosition, ListQuery, RunRow, Store } from "./store.ts";
import { parseQuery } from "./visibility/parse.ts";

const DEFAULT_PAGE = 100;
const MAX_PAGE = 1000;
const utf8 = new TextEncoder();
const text = new TextDecoder();

interface ListContext {
  readonly store: Store;
  /** Throws for a namespace that the engine does not serve. */
  ours(name: string): void;
  /** How lists show a run. */
  infoOf(row: RunRow, head: Uint8Array): MessageInitShape<typeof WorkflowExecutionInfoSchema>;
}

interface WantedPage {
  /** Identifies the query; the next page must have the same. */
  readonly key: string;
  readonly size: number;
  readonly token: Uint8Array;
}

export function listMethods({ store, ours, infoOf }: ListContext) {
  const page = (query: ListQuery, { key, size, token }: WantedPage) => {
    if (size < 0) throw invalid("the page size must not be negative");
    const limit = Math.min(size === 0 ? DEFAULT_PAGE : size, MAX_PAGE);
    const { rows, heads, next } = store.list(query, limit, readListToken(token, key));
    return {
      executions: rows.map((row, i) => infoOf(row, heads[i]!)),
      nextPageToken: next === undefined ? new Uint8Array(0) : writeListToken(next, key),
    };
  };
  const byQuery = ({ query: key, pageSize: size, nextPageToken: token }: {
    query: string;
    pageSize: number;
    nextPageToken: Uint8Array;
  }) => page(parseQuery(key, store.attributeTypes()), { key, size, token });
  const older = (
    request: ListOpenWorkflowExecutionsRequest | ListClosedWorkflowExecutionsRequest,
    open: boolean,
  ) => {
    ours(request.namespace);
    const where: Condition = {
      kind: "and",
      parts: [{ kind: "null", field: "CloseTime", negated: !open }, ...filtersOf(request, open)],
    };
    const { maximumPageSize: size, nextPageToken: token } = request;
    const query: ListQuery = { where, orderBy: "CloseTime", descending: true };
    return page(query, { key: JSON.stringify(where), size, token });
  };
  return {
    listWorkflowExecutions(bytes: Uint8Array): Uint8Array {
      const request = decodeMessage(ListWorkflowExecutionsRequestSchema, bytes);
      ours(request.namespace);
      return encodeMessage(ListWorkflowExecutionsResponseSchema, byQuery(request));
    },
    scanWorkflowExecutions(bytes: Uint8Array): Uint8Array {
      const request = decodeMessage(ScanWorkflowExecutionsRequestSchema, bytes);
      ours(request.namespace);
      return encodeMessage(ScanWorkflowExecutionsResponseSchema, byQuery(request));
    },
    listOpenWorkflowExecutions(bytes: Uint8Array): Uint8Array {
      const request = decodeMessage(ListOpenWorkflowExecutionsRequestSchema, bytes);
      return encodeMessage(ListOpenWorkflowExecutionsResponseSchema, older(request, true));
    },
    listClosedWorkflowExecutions(bytes: Uint8Array): Uint8Array {
      const request = decodeMessage(ListClosedWorkflowExecutionsRequestSchema, bytes);
      return encodeMessage(ListClosedWorkflowExecutionsResponseSchema, older(request, false));
    },
  } satisfies { [name in MethodName]?: (request: Uint8Array) => Uint8Array };
}

/** Times filter the start of open workflows, and the close of closed ones. */
function filtersOf(
  request: ListOpenWorkflowExecutionsRequest | ListClosedWorkflowExecutionsRequest,
  open: boolean,
): Condition[] {
  const { startTimeFilter: times, filters } = request;
  const parts: Condition[] = [];
  const field = open ? "StartTime" : "CloseTime";
  const bound = (time: Timestamp | undefined, op: ">=" | "<=") => {
    if (time !== undefined) parts.push({ kind: "compare", field, op, value: msOf(time) });
  };
  bound(times?.earliestTime, ">=");
  bound(times?.latestTime, "<=");
  const equals = (name: "WorkflowId" | "RunId" | "WorkflowType", value: string) => {
    if (value !== "") parts.push({ kind: "compare", field: name, op: "=", value });
  };
  switch (filters.case) {
    case "executionFilter":
      equals("WorkflowId", filters.value.workflowId);
      equals("RunId", filters.value.runId);
      break;
    case "typeFilter":
      equals("WorkflowType", filters.value.name);
      break;
    case "statusFilter":
      parts.push({
        kind: "compare",
        field: "ExecutionStatus",
        op: "=",
        value: filters.value.status,
      });
  }
  return parts;
}

const msOf = ({ seconds, nanos }: Timestamp): number => Number(seconds) * 1000 + nanos / 1e6;

/** The token contains its query: with another query it would skip or repeat runs silently. */
export function writeListToken(position: ListPosition, query: string): Uint8Array {
  return utf8.encode(JSON.stringify({ after: position, query }));
}

export function readListToken(token: Uint8Array, query: string): ListPosition | undefined {
  if (token.length === 0) return undefined;
  let read: { after?: unknown; query?: unknown };
  try {
    read = JSON.parse(text.decode(token)) ?? {};
  } catch {
    throw invalidPageToken();
  }
  const { after } = read;
  if (!Array.isArray(after) || after.length !== 2 || !after.every(Number.isFinite)) {
    throw invalidPageToken();
  }
  if (read.query !== query) throw invalid("nextPageToken belongs to another query");
  return [after[0], after[1]];
}
