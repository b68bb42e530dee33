// The backfills of backfilling_child.ts: each has ACTIONS actions.
export const PERIOD = "6m";
export const BACKFILL_MS = 3_600_000;
export const ACTIONS = 10;
export const FIRST_MS = Date.parse("2020-01-01T00:00:00Z");
