// Options of the official SDK that have no effect here yet. Dropping one without a word would do something else than the program says.

/** Values that say nothing: what an option means where it is left out. */
const NOTHING: ReadonlySet<unknown> = new Set([undefined, null, "UNSPECIFIED", 0]);

/** What of a run a refusal needs. */
interface RefusingRun {
  readonly isReplaying: boolean;
  failTask(error: unknown): void;
}

/**
 * Fails the task, whatever the program catches, where an option is given that has no effect here. On replay nothing is refused: the history
 * was written by a worker that had the option, or by one that dropped it, and what it asks for is compared with nothing.
 */
export function refuseOptions(run: RefusingRun, what: string, options: object | undefined, unsupported: readonly string[]): void {
  if (run.isReplaying || options === undefined || options === null) return;
  const says = (value: unknown) => !NOTHING.has(value) && !(Array.isArray(value) && value.length === 0);
  const given = unsupported.filter((name) => says((options as { [name: string]: unknown })[name]));
  if (given.length === 0) return;
  const names = given.map((name) => `"${name}"`).join(", ");
  const error = new TypeError(
    `the option${given.length === 1 ? "" : "s"} ${names} of ${what} ${
      given.length === 1 ? "is" : "are"
    } not supported here yet; leave ` +
      `${given.length === 1 ? "it" : "them"} out`,
  );
  run.failTask(error);
  throw error;
}
