/**
 * Query parameter of a reloaded module: its file imports are reloaded as well. Separate file for
 * the hooks' thread.
 */
export const AGAIN = "temporalex-again";
