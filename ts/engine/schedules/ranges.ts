// The fields of calendars as text ("1-5/2,8", "mon-fri", "*"), converted to ranges, as servers
// convert them. Errors are Errors whose message names the field.
import { create } from "@bufbuild/protobuf";
import {
  type Range,
  RangeSchema,
} from "../../messages/generated/temporal/api/schedule/v1/message_pb.ts";

export const MIN_YEAR = 2000;
export const MAX_YEAR = 2100;

export type FieldName =
  | "Second"
  | "Minute"
  | "Hour"
  | "DayOfWeek"
  | "DayOfMonth"
  | "Month"
  | "Year";

const MONTHS = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

interface Field {
  readonly min: number;
  readonly max: number;
  /** Value of an empty text. */
  readonly byDefault: string;
  readonly names?: readonly string[];
  /** Minimum length of a name that is cut. */
  readonly nameLength?: number;
}

const FIELDS: { readonly [name in FieldName]: Field } = {
  Second: { min: 0, max: 59, byDefault: "0" },
  Minute: { min: 0, max: 59, byDefault: "0" },
  Hour: { min: 0, max: 23, byDefault: "0" },
  DayOfWeek: { min: 0, max: 7, byDefault: "*", names: DAYS, nameLength: 2 },
  DayOfMonth: { min: 1, max: 31, byDefault: "*" },
  Month: { min: 1, max: 12, byDefault: "*", names: MONTHS, nameLength: 3 },
  Year: { min: MIN_YEAR, max: MAX_YEAR, byDefault: "*" },
};

/** Parses the text of a field. No ranges mean every year; other fields are always listed. */
export function parseRanges(text: string, name: FieldName): Range[] {
  const field = FIELDS[name];
  const trimmed = text.trim() === "" ? field.byDefault : text.trim();
  if (trimmed === "*" && name === "Year") return [];
  return trimmed.split(",").flatMap((part) => parsePart(part, name, field));
}

function parsePart(part: string, name: FieldName, field: Field): Range[] {
  const [base, stepText, ...more] = part.split("/");
  if (more.length > 0) throw new Error(`${name} has too many slashes`);
  let step = 1;
  if (stepText !== undefined) {
    if (stepText === "") throw new Error(`${name} missing step value`);
    step = integer(stepText) ?? 0;
    if (step < 1) throw new Error(`${name} has invalid Step`);
  }
  let [start, end] = limits(base!, stepText !== undefined, name, field);
  const ranges: Range[] = [];
  if (name === "DayOfWeek" && end === 7) {
    // Sunday is 0. A range that ends on 7 needs 0 separately, unless it has every day up to 6.
    const hasSunday = (7 - start) % step === 0;
    if (hasSunday && (step > 1 || start > 1)) {
      ranges.push(create(RangeSchema, { start: 0 }));
      if (start === 7) return ranges;
    }
    end = 6;
  }
  ranges.push(
    create(RangeSchema, {
      start,
      end: start === end ? 0 : end,
      step: step === 1 ? 0 : step,
    }),
  );
  return ranges;
}

function limits(
  base: string,
  hasStep: boolean,
  name: FieldName,
  field: Field,
): [number, number] {
  const { min, max } = field;
  if (base === "*") return [min, max];
  const [first, last, ...more] = base.split("-");
  if (more.length > 0) throw new Error(`${name} has too many dashes`);
  const start = valueIn(first!, min, max, field);
  if (last === undefined) {
    if (start === undefined) throw new Error(`${name} is not in range [${min}-${max}]`);
    // "3/5" continues to the maximum.
    return [start, hasStep ? max : start];
  }
  if (start === undefined) throw new Error(`${name} Start is not in range [${min}-${max}]`);
  const end = valueIn(last, start, max, field);
  if (end === undefined) {
    throw new Error(`${name} End is before Start or not in range [${min}-${max}]`);
  }
  return [start, end];
}

function valueIn(text: string, min: number, max: number, field: Field): number | undefined {
  const { names, nameLength = 0 } = field;
  let value = integer(text);
  if (value === undefined && names !== undefined && text.length >= nameLength) {
    const index = names.findIndex((name) => name.startsWith(text.toLowerCase()));
    if (index >= 0) value = names === MONTHS ? index + 1 : index;
  }
  return value === undefined || value < min || value > max ? undefined : value;
}

function integer(text: string): number | undefined {
  return /^[+-]?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/** Calls `add` with each value of ranges; an end before its start counts as the start. */
export function eachValue(
  ranges: readonly { readonly start: number; readonly end: number; readonly step: number }[],
  add: (value: number) => void,
): void {
  for (const { start, end, step } of ranges) {
    for (let value = start; value <= Math.max(start, end); value += step === 0 ? 1 : step) {
      add(value);
    }
  }
}
