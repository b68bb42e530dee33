// The official SDK's language flags (numbers are its own, and we write no others:
// docs/dev/semantics/errors.md#flags). A flag that a task's completion recorded changes how that
// task and the later ones are replayed.

/** A shielding scope stops requests, withTimeout ends its timer, setTimeout is a timer under a scope. */
export const FLAG_SHIELDED_SCOPES = 1;
/** All jobs of an activation are one batch; before it, signals were a batch of their own. */
export const FLAG_SINGLE_BATCH = 2;

/** As Temporal's add-on packages know them. The later ones are asked for by its OpenTelemetry interceptors alone. */
export const SdkFlags = Object.freeze({
  NonCancellableScopesAreShieldedFromPropagation: Object.freeze({ id: FLAG_SHIELDED_SCOPES, default: true }),
  ProcessWorkflowActivationJobsAsSingleBatch: Object.freeze({ id: FLAG_SINGLE_BATCH, default: true }),
  OpenTelemetryInterceptorsTracesInboundSignals: Object.freeze({ id: 3, default: true }),
  OpenTelemetryInterceptorsTracesLocalActivities: Object.freeze({ id: 4, default: true }),
  OpenTelemetryInterceporsAvoidsExtraYields: Object.freeze({ id: 5, default: true }),
  OpenTelemetryInterceptorsInstrumentsAllMethods: Object.freeze({ id: 6, default: true }),
});

/** The version of an official worker that has no build id of its own, by that which it makes. */
const OFFICIAL = /^@temporalio\/worker@(\d+)\.(\d+)\.(\d+)\b.*\+/;
/** The first versions that did what a flag stands for. */
const SINCE: { readonly [flag: number]: readonly [number, number, number] } = { 3: [1, 11, 5], 4: [1, 11, 6], 5: [1, 13, 2] };

/**
 * Is a flag on in a task of history by the build id of the worker that completed it, although the task did not record it? The official
 * workers 1.11.0 and 1.11.1 had the first two on and did not record them; a task that one of them completed is replayed with them, and no
 * later task: an older worker may have gone on.
 */
export function isImplied(flag: number, buildId: string): boolean {
  const match = OFFICIAL.exec(buildId);
  if (match === null) return false;
  const [major, minor, patch] = match.slice(1).map(Number) as [number, number, number];
  if (flag === FLAG_SHIELDED_SCOPES || flag === FLAG_SINGLE_BATCH) return major === 1 && minor === 11 && patch <= 1;
  const since = SINCE[flag];
  if (since === undefined) return false;
  const by = [major - since[0], minor - since[1], patch - since[2]];
  return (by.find((difference) => difference !== 0) ?? 0) >= 0;
}

/** Numbers that the official SDK knows. */
export const KNOWN_FLAGS: readonly number[] = Object.values(SdkFlags).map(({ id }) => id);

/** What live tasks of ours do, and so record. */
export const USED_FLAGS: readonly number[] = [FLAG_SHIELDED_SCOPES, FLAG_SINGLE_BATCH];

/** Is a module one that asks for flags by name? */
export const asksForFlags = (specifier: string): boolean => /^@temporalio\/workflow\/lib\/flags(?:\.js)?$/.test(specifier);
