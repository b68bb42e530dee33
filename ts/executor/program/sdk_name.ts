/** Written into the histories of native programs; the rule for workflow-task boundaries is chosen by it. */
export const SDK_NAME = "temporalex-ts";
