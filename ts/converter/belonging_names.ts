// Names of the search attributes in which starts keep what a workflow belongs to, and how its timers fire. Servers keep names that begin with
// "Temporal" for themselves.

/** A Keyword: what a workflow works for. */
export const ENTITY = "WorkflowEntityId";
/** A Keyword: what groups workflows. */
export const CORRELATION = "WorkflowCorrelationId";
/** A Keyword, "manual": its timers fire by hand. The core knows it by this name (core-rs/src/engine/search_attributes.rs). */
export const TIMERS = "WorkflowTimers";
