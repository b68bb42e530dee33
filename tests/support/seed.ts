// The seed of random choices in tests. A failure names it, and `TEST_SEED=N` repeats the choices.
// Names no platform: cases run in pages, too.

const MAX_SEED = 2 ** 31 - 1;

/**
 * Returns TEST_SEED, or where it is not set a new seed. Throws if TEST_SEED is not an integer from
 * 1 to 2^31 - 1.
 */
export function testSeed(): number {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  const given = process?.env?.["TEST_SEED"];
  if (given === undefined || given === "") return 1 + Math.floor(Math.random() * MAX_SEED);
  const seed = Number(given);
  if (Number.isInteger(seed) && seed >= 1 && seed <= MAX_SEED) return seed;
  throw new RangeError(
    `TEST_SEED must be an integer from 1 to ${MAX_SEED}, not ${JSON.stringify(given)}`,
  );
}

/** Calls `body` with a seed. If it rejects, the error names the seed, whatever failed. */
export async function withSeed(body: (seed: number) => Promise<void>): Promise<void> {
  const seed = testSeed();
  try {
    await body(seed);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`failed with TEST_SEED=${seed}: ${message}`, { cause: error });
  }
}
