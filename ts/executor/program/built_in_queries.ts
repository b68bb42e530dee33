// The queries that Temporal's CLI and UI send to every workflow: where its code waits (as text and
// as data), and its metadata. Names and JSON results are those of Temporal's SDKs.

export const STACK_TRACE = "__stack_trace";
export const ENHANCED_STACK_TRACE = "__enhanced_stack_trace";
export const WORKFLOW_METADATA = "__temporal_workflow_metadata";

/** A message of a workflow with its description, for user interfaces. */
export interface InteractionDefinition {
  readonly name: string;
  readonly description?: string;
}

/** Every workflow supports them. */
export const BUILT_IN_QUERIES: readonly Required<InteractionDefinition>[] = [
  {
    name: ENHANCED_STACK_TRACE,
    description: "Where the workflow's code waits, as data: files, lines and columns.",
  },
  { name: STACK_TRACE, description: "Where the workflow's code waits." },
  {
    name: WORKFLOW_METADATA,
    description: "The workflow's type, its messages, and its current details.",
  },
];

/** For messages: the names that `isReserved` rejects. */
export const RESERVED_NAMES =
  "__stack_trace, __enhanced_stack_trace and names that begin with __temporal_";

/** Whether Temporal reserves this name. */
export function isReserved(name: string): boolean {
  return name === STACK_TRACE || name === ENHANCED_STACK_TRACE || name.startsWith("__temporal_");
}

/** Whether a query needs the wait positions, which are recorded only then. */
export function asksForStacks(queries: readonly string[]): boolean {
  return queries.includes(STACK_TRACE) || queries.includes(ENHANCED_STACK_TRACE);
}

/** The JSON of temporal.api.sdk.v1.WorkflowMetadata. */
export interface WorkflowMetadata {
  readonly definition: {
    readonly type: string;
    readonly queryDefinitions: readonly InteractionDefinition[];
    readonly signalDefinitions: readonly InteractionDefinition[];
    readonly updateDefinitions: readonly InteractionDefinition[];
  };
  readonly currentDetails: string;
}

/** Sorted by name, as the description of the message requires. */
export function sorted(definitions: Iterable<InteractionDefinition>): InteractionDefinition[] {
  return [...definitions].sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}
