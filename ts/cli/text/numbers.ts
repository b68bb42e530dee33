// Numbers that options give.
import { UsageError } from "../frame/errors.ts";

/** A whole number from 1, where one is given. */
export function wholeNumberOption(option: string, value: number | undefined): number | undefined {
  if (value !== undefined && (!Number.isInteger(value) || value < 1)) {
    throw new UsageError(`${option} is a whole number from 1, not ${value}`);
  }
  return value;
}
