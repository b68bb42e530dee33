// The official SDK's language flags (numbers are its own, and we write no others:
// docs/dev/semantics/errors.md#flags). A flag that a task's completion recorded changes how that
// task and the later ones are replayed.

/** A shielding scope stops requests, withTimeout ends its timer, setTimeout is a timer under a scope. */
export const FLAG_SHIELDED_SCOPES = 1;
/** All jobs of an activation are one batch; before it, signals were a batch of their own. */
export const FLAG_SINGLE_BATCH = 2;

/**
 * Build ids of the official workers 1.11.0 and 1.11.1, which had both flags on and did not record them. A task that one of them completed is
 * replayed with them, and no later task: an older worker may have gone on.
 */
const UNRECORDED = /^@temporalio\/worker@1\.11\.[01]\+/;

/** Is a flag on in a task of history by the build id of the worker that completed it, although the task did not record it? */
export function isImplied(flag: number, buildId: string): boolean {
  return (flag === FLAG_SHIELDED_SCOPES || flag === FLAG_SINGLE_BATCH) && UNRECORDED.test(buildId);
}

/** Numbers that the official SDK knows: 3 to 6 concern its OpenTelemetry interceptors, and mean nothing here. */
export const KNOWN_FLAGS: readonly number[] = [1, 2, 3, 4, 5, 6];

/** What live tasks of ours do, and so record. */
export const USED_FLAGS: readonly number[] = [FLAG_SHIELDED_SCOPES, FLAG_SINGLE_BATCH];
