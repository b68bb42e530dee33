/** In the query of a module that is loaded again: what it imports by files is loaded again, too. A file of its own, for the hooks' thread. */
export const AGAIN = "temporalex-again";
