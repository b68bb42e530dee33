// Typed values of visibility queries: times (RFC 3339, or integer nanoseconds since the epoch as in
// Temporal's servers) and execution statuses (Temporal's names or numbers).
import { WorkflowExecutionStatus } from "../../messages/generated/temporal/api/enums/v1/workflow_pb.ts";
import type { NumberField, TimeField } from "./condition.ts";
import { momentOf, msOfNanoseconds } from "./moment.ts";
import { QueryError } from "./query_error.ts";
import type { Token } from "./tokens.ts";

/** Returns milliseconds since the epoch. */
export function parseTime(token: Token, field: TimeField): number {
  if (token.kind === "number") {
    if (!/^-?\d+$/.test(token.text)) {
      throw new QueryError(
        `${field} as a number must be an integer (nanoseconds since the epoch)`,
        token,
      );
    }
    return msOfNanoseconds(token.text);
  }
  const ms = momentOf(token.text);
  if (Number.isNaN(ms)) {
    throw new QueryError(
      `${field} must be a time such as '2026-01-31T23:59:59Z' or whole nanoseconds since the epoch`,
      token,
    );
  }
  return ms;
}

const UNITS_MS: { readonly [unit: string]: number } = {
  ...{ h: 3_600_000, m: 60_000, s: 1000, ms: 1 },
  ...{ us: 1e-3, "µs": 1e-3, "μs": 1e-3, ns: 1e-6 },
};
const LENGTH = /^(?:\d+(?:\.\d+)?(?:h|ms|m|s|us|µs|μs|ns))+$/;

/** Returns milliseconds of a length such as '1h30m' or '01:30:00', or of integer nanoseconds. */
export function parseLength(token: Token, field: NumberField): number {
  if (token.kind === "number" && /^\d+$/.test(token.text)) return Number(token.text) / 1e6;
  if (token.kind === "text") {
    const clock = /^(\d+):(\d\d):(\d\d)$/.exec(token.text);
    if (clock !== null) {
      const [hours, minutes, seconds] = clock.slice(1).map(Number);
      return ((hours! * 60 + minutes!) * 60 + seconds!) * 1000;
    }
    if (LENGTH.test(token.text)) {
      const parts = token.text.matchAll(/([\d.]+)(\D+)/g);
      return [...parts].reduce((sum, [, count, unit]) => sum + Number(count) * UNITS_MS[unit!]!, 0);
    }
  }
  throw new QueryError(
    `${field} must be a duration such as '1h30m' or '01:30:00', or whole nanoseconds`,
    token,
  );
}

export function parseCountOf(token: Token, field: NumberField): number {
  if (token.kind === "number" && /^-?\d+$/.test(token.text)) return Number(token.text);
  throw new QueryError(`${field} must be an integer`, token);
}

/** Statuses as Temporal's servers name them ("ContinuedAsNew"), with their numbers. */
export type StatusNames = readonly (readonly [name: string, status: number])[];

/** The statuses of an enum of Temporal's API. */
export function statusesOf(statuses: { readonly [name: string]: number }): StatusNames {
  return Object.entries(statuses).filter(([, number]) => number !== 0).map(([name, number]) => [
    name.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase()),
    number,
  ]);
}

export const STATUS_NAMES: StatusNames = statusesOf(WorkflowExecutionStatus);

/** Accepts "ContinuedAsNew" and "CONTINUED_AS_NEW". */
export function parseStatus(token: Token, statuses: StatusNames, field: string): number {
  const written = token.text.replaceAll("_", "").toLowerCase();
  const found = statuses.find(([name, number]) =>
    token.kind === "number" ? Number(token.text) === number : name.toLowerCase() === written
  );
  if (found === undefined) {
    throw new QueryError(
      `${field} must be one of ${statuses.map(([name]) => `'${name}'`).join(", ")}`,
      token,
    );
  }
  return found[1];
}
