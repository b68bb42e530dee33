// What explains failed replays. One module, because realms load it when a replay fails, and not
// before.
export { decodeEventList } from "./divergence/candidates.ts";
export { explainDivergence, KnownEdits } from "./divergence/mod.ts";
export { compareReplayedValues } from "./divergence/gate_values.ts";
export { formatLocation, readPath } from "./divergence/path.ts";
export { shortPlace } from "./divergence/where.ts";
export { commandsNotInHistory } from "./not_in_history.ts";
export { notInHistoryText } from "./not_in_history_text.ts";
