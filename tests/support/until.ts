// The one way in which tests wait for something that nothing announces. Names no platform: cases
// run in pages, too.

export interface UntilOptions {
  /**
   * Milliseconds between two looks. By default they begin with 1 and grow to 50: what comes soon is
   * seen soon, and a long wait leaves the processor to what it waits for.
   */
  readonly everyMs?: number;
  /** Milliseconds after which it fails: two minutes. */
  readonly withinMs?: number;
  /** A look that throws is one that saw nothing yet; by default its error is the caller's. */
  readonly retryErrors?: boolean;
  /** More for the failure's message: what a process printed, say. */
  readonly about?: () => string;
}

const FIRST_MS = 1;
const LAST_MS = 50;
const CONDITION_CHARS = 300;

type Nothing = undefined | null | false | 0 | "";

/** A value on one line, for a message. */
function formatValue(value: unknown): string {
  if (value instanceof Error) return value.stack ?? String(value);
  try {
    return JSON.stringify(
      value,
      (_, part: unknown) => typeof part === "bigint" ? `${part}n` : part,
    ) ?? String(value);
  } catch {
    return String(value);
  }
}

/**
 * Looks until it sees something (a value that is not false, undefined, null, 0 or empty), and
 * returns that. Fails after two minutes with what it waited for and what it saw last.
 */
export async function until<T>(
  what: string,
  look: () => T | Promise<T>,
  { everyMs, withinMs = 120_000, retryErrors = false, about }: UntilOptions = {},
): Promise<Exclude<T, Nothing>> {
  const end = performance.now() + withinMs;
  for (let pause = everyMs ?? FIRST_MS;; pause = everyMs ?? Math.min(LAST_MS, pause * 1.5)) {
    let seen: unknown;
    try {
      const value = await look();
      if (value) return value as Exclude<T, Nothing>;
      seen = value;
    } catch (error) {
      if (!retryErrors) throw error;
      seen = error;
    }
    if (performance.now() > end) {
      // Of a plain condition, its text says more than that it did not hold.
      const last = seen === false
        ? `false of ${String(look).slice(0, CONDITION_CHARS)}`
        : formatValue(seen);
      const more = about === undefined ? "" : `\n${about()}`;
      throw new Error(
        `this did not happen within ${withinMs / 1000} s: ${what}; seen last: ${last}${more}`,
      );
    }
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
