// The option `values` of checks that replay histories with changed workflow code: replays of
// `@temporalio/worker` and replacements of workflow code in a running worker.
import type {
  ChangedValue,
  UncomparedValue,
  ValueComparison,
  ValueRule,
} from "../executor/tasks/divergence.ts";

export type { ChangedValue, UncomparedValue };

/** How changed values are treated. "warn": reported. "error": reported, and the check fails. */
export type ValueCheckLevel = "warn" | "error";

/**
 * Compares values that no replay compares (arguments, results, durations, options, memos, search
 * attributes) with the history. An object also names values to leave out.
 */
export type ValueCheck = ValueCheckLevel | ValueCheckOptions;

/** A check of values with rules. */
export interface ValueCheckOptions {
  /** What happens to changed values. Default: "warn". */
  readonly level?: ValueCheckLevel;
  /** Values that are not compared. */
  readonly ignore?: readonly ValueRule[];
}

/** A check of values as it is used: how it ends, and what is compared. */
export interface CompiledValueCheck {
  readonly isFatal: boolean;
  readonly comparison: ValueComparison;
}

/** Reads the option `name`. Throws a TypeError for another value. */
export function readValueCheck(given: unknown, name: string): CompiledValueCheck | undefined {
  if (given === undefined || given === null) return undefined;
  if (typeof given === "string") {
    return { isFatal: isErrorLevel(given, name), comparison: {} };
  }
  if (typeof given !== "object" || Array.isArray(given)) {
    throw new TypeError(
      `${name} is ${JSON.stringify(given) ?? typeof given}; expected "warn", "error" or an object`,
    );
  }
  const { level = "warn", ignore, ...others } = given as { [field: string]: unknown };
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw new TypeError(`unknown option ${name}.${other}; expected level or ignore`);
  }
  return {
    isFatal: isErrorLevel(level, `${name}.level`),
    comparison: ignore === undefined ? {} : { ignore: ignore as readonly ValueRule[] },
  };
}

function isErrorLevel(level: unknown, name: string): boolean {
  if (level === "error" || level === "warn") return level === "error";
  throw new TypeError(`${name} is ${JSON.stringify(level)}; expected "warn" or "error"`);
}

/** Returns one or two lines: event, step and both values, then the line of the code. */
export function describeChangedValue({ eventId, step, sentence, site }: ChangedValue): string {
  return `changed value (event ${eventId}, ${step}): ${sentence}${
    site === "" ? "" : `\nat ${site}`
  }`;
}
