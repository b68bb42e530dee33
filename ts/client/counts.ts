// Counting workflows, as a whole and in groups.
import { WorkflowExecutionStatus } from "../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { CountWorkflowExecutionsResponse } from "../api/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { readableValue } from "./context.ts";
import type { PayloadConverter } from "../converter/payload.ts";
import type { WorkflowStatus } from "./descriptions.ts";

/** How many runs of a group a query selects. */
export interface WorkflowCountGroup {
  /** What the group has in common: the values of the fields that `GROUP BY` names. */
  readonly values: readonly unknown[];
  /** How many. */
  readonly count: number;
}

/** How many runs a query selects, and of what groups. */
export interface WorkflowCount {
  /** All of them. */
  readonly count: number;
  /** The groups that `GROUP BY` asks for; those without runs are left out. Empty without it. */
  readonly groups: readonly WorkflowCountGroup[];
}

export function toCount(response: CountWorkflowExecutionsResponse, converter: PayloadConverter): WorkflowCount {
  return {
    count: Number(response.count),
    groups: response.groups.map(({ count, groupValues }) => ({
      values: groupValues.map((payload) => readableValue(payload, converter)),
      count: Number(count),
    })),
  };
}

/** A query with its groups: by status, as services can. */
export function byStatus(query: string): string {
  if (/\bgroup\s+by\b/i.test(query)) throw new TypeError("countByStatus adds its own GROUP BY; use countGroups for other groups");
  return `${query} GROUP BY ExecutionStatus`.trim();
}

/** Counts by status. The service spells statuses as people do: "ContinuedAsNew". */
export function statusCounts({ groups }: WorkflowCount): { [status in WorkflowStatus]?: number } {
  const counts: { [status in WorkflowStatus]?: number } = {};
  for (const { values, count } of groups) {
    const name = String(values[0]).replace(/([a-z])([A-Z])/g, "$1_$2").toUpperCase();
    const status = name !== "UNSPECIFIED" && Object.hasOwn(WorkflowExecutionStatus, name) ? name as WorkflowStatus : "UNKNOWN";
    counts[status] = (counts[status] ?? 0) + count;
  }
  return counts;
}
