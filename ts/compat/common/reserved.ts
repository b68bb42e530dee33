// Names of activities, messages and sinks reserved by Temporal's SDKs.

/** Reserved prefix. */
export const TEMPORAL_RESERVED_PREFIX = "__temporal_";
/** Query for the stack trace. */
export const STACK_TRACE_QUERY_NAME = "__stack_trace";
/** Query for the stack trace with sources. */
export const ENHANCED_STACK_TRACE_QUERY_NAME = "__enhanced_stack_trace";

/**
 * Names of Temporal's add-on packages with their kind: streams, and traces of agents and of
 * LangSmith.
 */
const OF_ADD_ONS: ReadonlyMap<string, string> = new Map([
  ["__temporal_workflow_stream_publish", "signal"],
  ["__temporal_workflow_stream_poll", "update"],
  ["__temporal_workflow_stream_offset", "query"],
  ["__temporal_openai_agents_tracing", "sink"],
  ["__temporal_langsmith", "sink"],
]);

/** Throws a TypeError for a reserved name. */
export function throwIfReservedName(type: string, name: string): void {
  if (name.startsWith(TEMPORAL_RESERVED_PREFIX) && OF_ADD_ONS.get(name) !== type) {
    throw new TypeError(
      `Cannot use ${type} name: '${name}', with reserved prefix: '${TEMPORAL_RESERVED_PREFIX}'`,
    );
  }
  if (name === STACK_TRACE_QUERY_NAME || name === ENHANCED_STACK_TRACE_QUERY_NAME) {
    throw new TypeError(`Cannot use ${type} name: '${name}', which is a reserved name`);
  }
}
