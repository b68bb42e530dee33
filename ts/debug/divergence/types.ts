// A divergence as data. A replay's verdict carries it, so its types are beside those of verdicts.
export type * from "../../executor/tasks/divergence.ts";
