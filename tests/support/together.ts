// Tests that mostly wait, each for something different.
import { test } from "node:test";

/**
 * Declares tests whose bodies all begin when the first of them is run: together they take as long
 * as the longest. They must share nothing. Each result is reported under the name of its test.
 */
export function together(tests: { readonly [name: string]: () => Promise<void> }): void {
  let begun: ReadonlyMap<string, Promise<void>> | undefined;
  const begin = () => {
    const bodies = new Map(Object.entries(tests).map(([name, body]) => [name, body()]));
    // A failure before the turn of its test is reported at that turn.
    for (const body of bodies.values()) body.catch(() => {});
    return bodies;
  };
  for (const name of Object.keys(tests)) test(name, () => (begun ??= begin()).get(name));
}
