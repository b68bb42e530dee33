/**
 * Recorded in histories of programs of this layer; selects the core's rule for workflow task
 * boundaries.
 */
export const COMPAT_SDK_NAME = "temporalex-ts-compat";
