// The official SDK's language flags (numbers are its own, and we write no others:
// docs/dev/semantics/errors.md#flags). A flag that a task's completion recorded changes how that
// task and the later ones are replayed.

/**
 * Shielding scopes stop requests, withTimeout ends its timer, setTimeout is a timer under a scope.
 */
export const FLAG_SHIELDED_SCOPES = 1;
/** All jobs of an activation are one batch; without it, signals are a separate batch. */
export const FLAG_SINGLE_BATCH = 2;

/**
 * As used by Temporal's add-on packages. Only its OpenTelemetry interceptors request the later
 * ones.
 */
export const SdkFlags = Object.freeze({
  NonCancellableScopesAreShieldedFromPropagation: Object.freeze({
    id: FLAG_SHIELDED_SCOPES,
    default: true,
  }),
  ProcessWorkflowActivationJobsAsSingleBatch: Object.freeze({
    id: FLAG_SINGLE_BATCH,
    default: true,
  }),
  OpenTelemetryInterceptorsTracesInboundSignals: Object.freeze({ id: 3, default: true }),
  OpenTelemetryInterceptorsTracesLocalActivities: Object.freeze({ id: 4, default: true }),
  OpenTelemetryInterceporsAvoidsExtraYields: Object.freeze({ id: 5, default: true }),
  OpenTelemetryInterceptorsInstrumentsAllMethods: Object.freeze({ id: 6, default: true }),
});

/** Version of an official worker in its default build id. */
const OFFICIAL = /^@temporalio\/worker@(\d+)\.(\d+)\.(\d+)\b.*\+/;
/** First worker versions that behaved as with a flag. */
const SINCE: { readonly [flag: number]: readonly [number, number, number] } = {
  3: [1, 11, 5],
  4: [1, 11, 6],
  5: [1, 13, 2],
};

/**
 * Returns whether a flag applies by the worker's build id although the task did not record it. The
 * official workers 1.11.0 and 1.11.1 used the first two flags without recording them. Applies only
 * to tasks that such a worker completed, because an older worker may have continued the run.
 */
export function isImplied(flag: number, buildId: string): boolean {
  const match = OFFICIAL.exec(buildId);
  if (match === null) return false;
  const [major, minor, patch] = match.slice(1).map(Number) as [number, number, number];
  if (flag === FLAG_SHIELDED_SCOPES || flag === FLAG_SINGLE_BATCH) {
    return major === 1 && minor === 11 && patch <= 1;
  }
  const since = SINCE[flag];
  if (since === undefined) return false;
  const by = [major - since[0], minor - since[1], patch - since[2]];
  return (by.find((difference) => difference !== 0) ?? 0) >= 0;
}

/** Numbers of the official SDK's flags. */
export const KNOWN_FLAGS: readonly number[] = Object.values(SdkFlags).map(({ id }) => id);

/** Flags of live tasks, which are recorded. */
export const USED_FLAGS: readonly number[] = [FLAG_SHIELDED_SCOPES, FLAG_SINGLE_BATCH];

/** Returns whether a module requests flags by name. */
export const asksForFlags = (specifier: string): boolean =>
  /^@temporalio\/workflow\/lib\/flags(?:\.js)?$/.test(specifier);
