// What the benches share: samples with minimum, median and maximum, how much of the machine others
// took meanwhile, and options of the command line (`--name=value`).

export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

/** Minimum, median and maximum, rounded to three significant figures below a thousand. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const median = sorted.length % 2 === 1
    ? sorted[middle]!
    : (sorted[middle - 1]! + sorted[middle]!) / 2;
  return { min: round(sorted[0]!), median: round(median), max: round(sorted[sorted.length - 1]!) };
}

export function round(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3));
}

/**
 * Arguments `--name=value` (or `--name`, as "true"). An argument that `known` does not have is an
 * error.
 */
export function options<K extends string>(
  args: readonly string[],
  known: { readonly [name in K]: string },
): Record<K, string> {
  const values: { [name: string]: string } = { ...known };
  for (const arg of args) {
    const [, name, value = "true"] = /^--([a-z-]+)(?:=(.*))?$/.exec(arg) ?? [];
    if (name === undefined || !(name in known)) {
      throw new Error(
        `unknown option ${arg}; there are: ${Object.keys(known).map((k) => `--${k}`).join(", ")}`,
      );
    }
    values[name] = value;
  }
  return values as Record<K, string>;
}

/** A whole number of at least `minimum`. */
export function count(name: string, text: string, minimum = 1): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < minimum) {
    throw new Error(`--${name} must be a whole number of at least ${minimum}, not "${text}"`);
  }
  return value;
}
