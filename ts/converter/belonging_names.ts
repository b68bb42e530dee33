// Names of the search attributes in which starts keep what a workflow belongs to. Servers keep names that begin with "Temporal" for themselves.

/** A Keyword: what a workflow works for. */
export const ENTITY = "WorkflowEntityId";
/** A Keyword: what groups workflows. */
export const CORRELATION = "WorkflowCorrelationId";
