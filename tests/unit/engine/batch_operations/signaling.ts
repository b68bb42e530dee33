// What the killed process and the test of batch operations share.

/** Workflows of each operation. */
export const WORKFLOWS = 40;
/** A quarter of the workflows in each slice. */
export const OPERATIONS_PER_SECOND = 100;
