/** Written into the histories of programs of this layer; Core's rule for workflow-task boundaries is chosen by it. */
export const COMPAT_SDK_NAME = "temporalex-ts-compat";
