// Runtime-neutral cases: the same source runs in Node, Deno, and pages and workers of browsers. A case
// file exports `cases`; the runners of each runtime call them. Nothing here names a platform.

import { stackText } from "../../ts/converter/stack.ts";

export interface CaseContext {
  /** Ends the case as skipped, by name. */
  skip(reason: string): never;
}

export interface Case {
  readonly name: string;
  run(t: CaseContext): Promise<void> | void;
}

export interface CaseGroup {
  readonly file: string;
  readonly cases: readonly Case[];
}

export interface CaseResult {
  readonly file: string;
  readonly name: string;
  readonly status: "passed" | "failed" | "skipped";
  readonly error?: string;
}

class Skipped extends Error {}

const formatError = (e: unknown): string => e instanceof Error ? stackText(e) : String(e);

/**
 * A case that takes longer is hung: the slowest takes a few seconds. The rest is run, and it is
 * named.
 */
const HUNG_MS = 150_000;

export async function runCase(file: string, one: Case): Promise<CaseResult> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const hung = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error(`it did not end within ${HUNG_MS / 1000} s`)),
        HUNG_MS,
      );
    });
    const ended = one.run({
      skip: (reason) => {
        throw new Skipped(reason);
      },
    });
    await Promise.race([ended, hung]);
    return { file, name: one.name, status: "passed" };
  } catch (e) {
    if (e instanceof Skipped) return { file, name: one.name, status: "skipped", error: e.message };
    const cause = e instanceof Error && e.cause instanceof Error
      ? `\ncaused by ${formatError(e.cause)}`
      : "";
    return { file, name: one.name, status: "failed", error: formatError(e) + cause };
  } finally {
    clearTimeout(timer);
  }
}

/** What hears of cases while they run. */
export interface CaseListener {
  began(file: string, name: string): void;
  ended(result: CaseResult): Promise<void> | void;
}

/** Runs all cases, or those whose name or file contains `only`. */
export async function runCases(
  groups: readonly CaseGroup[],
  only: string,
  listener: CaseListener,
): Promise<void> {
  for (const { file, cases } of groups) {
    for (const one of cases) {
      if (!one.name.includes(only) && !file.includes(only)) continue;
      listener.began(file, one.name);
      await listener.ended(await runCase(file, one));
    }
  }
}
