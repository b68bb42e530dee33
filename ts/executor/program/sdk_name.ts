/** Written into the histories of native programs; selects the rule for workflow task boundaries. */
export const SDK_NAME = "temporalex-ts";
