// Names of activities, messages and sinks that Temporal's SDKs keep for themselves.

/** The prefix of names that the SDKs keep for themselves. */
export const TEMPORAL_RESERVED_PREFIX = "__temporal_";
/** The query that answers the stack trace. */
export const STACK_TRACE_QUERY_NAME = "__stack_trace";
/** The query that answers the stack trace with sources. */
export const ENHANCED_STACK_TRACE_QUERY_NAME = "__enhanced_stack_trace";

/** What Temporal's own add-on packages use, each for one kind alone: streams, and traces of agents and of LangSmith. */
const OF_ADD_ONS: ReadonlyMap<string, string> = new Map([
  ["__temporal_workflow_stream_publish", "signal"],
  ["__temporal_workflow_stream_poll", "update"],
  ["__temporal_workflow_stream_offset", "query"],
  ["__temporal_openai_agents_tracing", "sink"],
  ["__temporal_langsmith", "sink"],
]);

/** Throws a TypeError for a name that the SDKs keep for themselves. */
export function throwIfReservedName(type: string, name: string): void {
  if (name.startsWith(TEMPORAL_RESERVED_PREFIX) && OF_ADD_ONS.get(name) !== type) {
    throw new TypeError(`Cannot use ${type} name: '${name}', with reserved prefix: '${TEMPORAL_RESERVED_PREFIX}'`);
  }
  if (name === STACK_TRACE_QUERY_NAME || name === ENHANCED_STACK_TRACE_QUERY_NAME) {
    throw new TypeError(`Cannot use ${type} name: '${name}', which is a reserved name`);
  }
}
