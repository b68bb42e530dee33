// Ranges of numeric options. A value outside would be sent as it is, and fail far from the call, or
// have no effect.

interface Range {
  readonly min: number;
  readonly max?: number;
  /** Default: true. */
  readonly whole?: boolean;
}

/** Greatest value of an int32 field. */
export const MAX_INT32 = 2 ** 31 - 1;

/** Throws a RangeError with the option, its range and the value. Undefined is allowed. */
export function checkNumber(
  option: string,
  value: number | undefined,
  { min, max, whole = true }: Range,
): void {
  if (value === undefined) return;
  if (
    Number.isFinite(value) && (!whole || Number.isInteger(value)) && value >= min &&
    value <= (max ?? Infinity)
  ) return;
  const kind = whole ? "a whole number" : "a finite number";
  const range = max === undefined ? `of at least ${min}` : `from ${min} to ${max}`;
  throw new RangeError(
    `${option} must be ${kind} ${range}, not ${
      typeof value === "string" ? JSON.stringify(value) : String(value)
    }`,
  );
}

/** Sizes of pages; 0 means the default of the service. */
export const checkPageSize = (value: number | undefined): void =>
  checkNumber("pageSize", value, { min: 0, max: MAX_INT32 });

/** A server limits weights to this range. */
export const FAIRNESS_WEIGHTS = { min: 0.001, max: 1000, whole: false };
