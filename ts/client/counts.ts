// Counts workflows, in total and by group.
import { WorkflowExecutionStatus } from "../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type {
  CountActivityExecutionsResponse,
  CountWorkflowExecutionsResponse,
} from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { readableValue } from "./context.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { WorkflowStatus } from "./descriptions.ts";

/** Count of one group. */
export interface WorkflowCountGroup {
  /** Values of the `GROUP BY` fields. */
  readonly values: readonly unknown[];
  readonly count: number;
}

/** Counts of a query. */
export interface WorkflowCount {
  /** Total number of runs or activities. */
  readonly count: number;
  /** Groups of `GROUP BY`, without empty ones. Empty without `GROUP BY`. */
  readonly groups: readonly WorkflowCountGroup[];
}

export function toCount(
  response: CountWorkflowExecutionsResponse | CountActivityExecutionsResponse,
  converter: PayloadConverter,
): WorkflowCount {
  return {
    count: Number(response.count),
    groups: response.groups.map(({ count, groupValues }) => ({
      values: groupValues.map((payload) => readableValue(payload, converter)),
      count: Number(count),
    })),
  };
}

/** Adds grouping by status to a query. */
export function byStatus(query: string): string {
  if (/\bgroup\s+by\b/i.test(query)) {
    throw new TypeError("countByStatus adds its own GROUP BY; use countGroups for other groups");
  }
  return `${query} GROUP BY ExecutionStatus`.trim();
}

/** Converts groups to counts by status. The service writes statuses as "ContinuedAsNew". */
export function statusCounts({ groups }: WorkflowCount): { [status in WorkflowStatus]?: number } {
  const counts: { [status in WorkflowStatus]?: number } = {};
  for (const { values, count } of groups) {
    const name = String(values[0]).replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase();
    const status = name !== "UNSPECIFIED" && Object.hasOwn(WorkflowExecutionStatus, name)
      ? name as WorkflowStatus
      : "UNKNOWN";
    counts[status] = (counts[status] ?? 0) + count;
  }
  return counts;
}
