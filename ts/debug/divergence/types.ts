// A divergence as data. Verdicts of replays contain it, so its types are next to theirs.
export type * from "../../executor/tasks/divergence.ts";
