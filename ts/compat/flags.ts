// The official SDK's language flags (numbers are its own, and we write no others:
// docs/dev/semantics/errors.md#flags). A flag that a task's completion recorded changes how that
// task and the later ones are replayed.

/** A shielding scope stops requests, withTimeout ends its timer, setTimeout is a timer under a scope. */
export const FLAG_SHIELDED_SCOPES = 1;
/** All jobs of an activation are one batch; before it, signals were a batch of their own. */
export const FLAG_SINGLE_BATCH = 2;

/** Numbers that the official SDK knows: 3 to 6 concern its OpenTelemetry interceptors, and mean nothing here. */
export const KNOWN_FLAGS: readonly number[] = [1, 2, 3, 4, 5, 6];

/** What live tasks of ours do, and so record. */
export const USED_FLAGS: readonly number[] = [FLAG_SHIELDED_SCOPES, FLAG_SINGLE_BATCH];
