// Values of visibility queries that are more than text: times (RFC 3339, or whole nanoseconds since the epoch as Temporal's servers
// take them) and execution statuses (Temporal's names, or their numbers).
import { WorkflowExecutionStatus } from "../../api/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { TimeField } from "./condition.ts";
import { QueryError } from "./query_error.ts";
import type { Token } from "./tokens.ts";

const TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d+)?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** Milliseconds since the epoch. */
export function parseTime(token: Token, field: TimeField): number {
  if (token.kind === "number") {
    if (!/^-?\d+$/.test(token.text)) throw new QueryError(`${field} as a number is whole nanoseconds since the epoch`, token);
    return Number(BigInt(token.text) / 1000n) / 1000;
  }
  const parts = TIME.exec(token.text);
  const ms = parts === null ? NaN : utc(parts);
  if (Number.isNaN(ms)) {
    throw new QueryError(`${field} is a time such as '2026-01-31T23:59:59Z' or whole nanoseconds since the epoch`, token);
  }
  return ms;
}

function utc(parts: RegExpExecArray): number {
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((text) => Number(text ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const time = Date.UTC(year, month - 1, day, hour, minute, second);
  const date = new Date(time);
  // Date.UTC carries overflow over: 30 February would quietly be 2 March.
  const real = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 &&
    minute < 60 && second < 60;
  if (!real) return NaN;
  const fraction = parts[7] === undefined ? 0 : Number(parts[7]) * 1000;
  const zone = parts[8] ?? "Z";
  const offset = /^[+-]/.test(zone) ? (zone[0] === "-" ? -1 : 1) * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))) : 0;
  return time + fraction - offset * 60_000;
}

/** Statuses as Temporal's servers name them ("ContinuedAsNew"), with their numbers. */
export const STATUS_NAMES: readonly (readonly [name: string, status: number])[] = Object.entries(WorkflowExecutionStatus)
  .filter(([, number]) => number !== 0)
  .map(([name, number]) => [name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase()), number]);

/** "ContinuedAsNew" and "CONTINUED_AS_NEW" alike. */
const STATUSES = new Map<string, number>(
  Object.entries(WorkflowExecutionStatus).filter(([, number]) => number !== 0).map((
    [name, number],
  ) => [name.replaceAll("_", "").toLowerCase(), number]),
);

export function parseStatus(token: Token): number {
  const number = token.kind === "number" ? Number(token.text) : STATUSES.get(token.text.replaceAll("_", "").toLowerCase());
  if (number === undefined || ![...STATUSES.values()].includes(number)) {
    throw new QueryError(
      "ExecutionStatus is one of 'Running', 'Completed', 'Failed', 'Canceled', 'Terminated', 'ContinuedAsNew', 'TimedOut', 'Paused'",
      token,
    );
  }
  return number;
}
