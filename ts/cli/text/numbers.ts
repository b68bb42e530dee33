// Numbers of options.
import { UsageError } from "../frame/errors.ts";

/** Returns an integer of at least 1; undefined if not given. */
export function wholeNumberOption(option: string, value: number | undefined): number | undefined {
  if (value !== undefined && (!Number.isInteger(value) || value < 1)) {
    throw new UsageError(`${option} must be a whole number of at least 1, not ${value}`);
  }
  return value;
}
