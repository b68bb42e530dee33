// Explains why the current code does not replay a history.
export { explainDivergence, KnownEdits, sharedDivergences } from "./explain.ts";
export type { Replay } from "./likely.ts";
export { shortPlace } from "./where.ts";
export type * from "./types.ts";
