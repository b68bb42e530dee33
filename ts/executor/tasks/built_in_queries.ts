// The queries that Temporal's command line and user interface send to every workflow, whatever its program: where its code waits (as text,
// and as data), and what it is. Their names and the JSON of their answers are those of Temporal's SDKs; the answers are in the default
// encoding whatever converter a worker has, because tools read them.
import type { Payload } from "../../converter/payload.ts";
import { defaultPayloadConverter } from "../../converter/payload.ts";
import type { MessageShape } from "../scheduler/definition.ts";
import { SDK_NAME } from "./sdk_name.ts";
import type { NativeRun } from "../scheduler/run.ts";
import { enhancedStackTrace, stackTraceText } from "./stack_traces.ts";
import type { Fiber } from "../scheduler/fiber.ts";
import type { WaitKind } from "./tracing.ts";

export const STACK_TRACE = "__stack_trace";
export const ENHANCED_STACK_TRACE = "__enhanced_stack_trace";
export const WORKFLOW_METADATA = "__temporal_workflow_metadata";

/** What a message of a workflow is for, as user interfaces show it. */
export interface InteractionDefinition {
  readonly name: string;
  readonly description?: string;
}

/** Every workflow answers them. */
export const BUILT_IN_QUERIES: readonly Required<InteractionDefinition>[] = [
  { name: ENHANCED_STACK_TRACE, description: "Where the workflow's code waits, as data: files, lines and columns." },
  { name: STACK_TRACE, description: "Where the workflow's code waits." },
  { name: WORKFLOW_METADATA, description: "The workflow's type, its messages, and its current details." },
];

/** For messages: the names that `isReserved` refuses. */
export const RESERVED_NAMES = "__stack_trace, __enhanced_stack_trace and names that begin with __temporal_";

/** Whether Temporal keeps the name of a message for itself. */
export function isReserved(name: string): boolean {
  return name === STACK_TRACE || name === ENHANCED_STACK_TRACE || name.startsWith("__temporal_");
}

/** Whether one of these queries asks where the code waits, which is recorded for those that ask only. */
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

/** The answer to a query of Temporal's own; undefined for every other name. */
export function answerBuiltIn(run: NativeRun, name: string): Payload | undefined {
  const answer = builtIn(run, name);
  return answer === undefined ? undefined : defaultPayloadConverter.toPayload(answer);
}

function builtIn(run: NativeRun, name: string): unknown {
  switch (name) {
    case STACK_TRACE:
      return stackTraceText(waitsOf(run));
    case ENHANCED_STACK_TRACE:
      return enhancedStackTrace(waitsOf(run), SDK_NAME, run.context.sdkVersion);
    case WORKFLOW_METADATA:
      return metadata(run);
    default:
      return undefined;
  }
}

/** Timers that somebody else waits for: they are no places of their own. */
const INSIDE: ReadonlySet<WaitKind> = new Set(["receiveTimeout", "selectTimer"]);

/** In the order in which fibers began. */
function waitsOf(run: NativeRun) {
  const fibers = new Map([...run.fibers].map((fiber, i) => [fiber, i]));
  const at = ({ fiber }: { fiber: Fiber }) => fibers.get(fiber) ?? fibers.size;
  const places = [...run.pending].filter(({ waitsFor }) => !INSIDE.has(waitsFor));
  return places.sort((a, b) => at(a) - at(b)).map((awaiter) => awaiter.inspect());
}

/** The messages that the workflow declares, and those that its code takes where it stands. */
function metadata(run: NativeRun): WorkflowMetadata {
  const { messages = [], queries, name } = run.definition;
  const receive = run.receive?.inspect();
  const named = (kind: MessageShape["kind"], more: Iterable<string>): InteractionDefinition[] => {
    const found = new Map<string, InteractionDefinition>();
    for (const each of more) found.set(each, { name: each });
    for (const message of run.receive?.messages() ?? []) if (message.kind === kind) found.set(message.name, interaction(message));
    for (const message of messages) if (message.kind === kind) found.set(message.name, interaction(message));
    return sorted(found.values());
  };
  return {
    definition: {
      type: name,
      queryDefinitions: sorted([...BUILT_IN_QUERIES, ...named("query", Object.keys(queries))]),
      signalDefinitions: named("signal", [...(receive?.signals ?? []), ...run.waiters.keys()]),
      updateDefinitions: named("update", receive?.updates ?? []),
    },
    currentDetails: run.details,
  };
}

const interaction = ({ name, description }: MessageShape): InteractionDefinition =>
  description === undefined ? { name } : { name, description };

/** By name, as Temporal's description of the message asks for. */
export function sorted(definitions: Iterable<InteractionDefinition>): InteractionDefinition[] {
  return [...definitions].sort((a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
}
