// Search attributes for what a workflow belongs to and how its timers fire. Servers reserve names
// that begin with "Temporal".

/** Keyword: the entity that a workflow works for. */
export const ENTITY = "WorkflowEntityId";
/** Keyword: groups workflows. */
export const CORRELATION = "WorkflowCorrelationId";
/**
 * Keyword, "manual": timers fire by hand. The core uses this name as well
 * (core-rs/src/engine/search_attributes.rs).
 */
export const TIMERS = "WorkflowTimers";
