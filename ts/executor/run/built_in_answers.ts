// Results of a native run for Temporal's built-in queries. They use the default encoding with any
// converter, because tools read them.
import { defaultPayloadConverter, type Payload } from "../../converter/payload.ts";
import {
  BUILT_IN_QUERIES,
  ENHANCED_STACK_TRACE,
  type InteractionDefinition,
  sorted,
  STACK_TRACE,
  WORKFLOW_METADATA,
  type WorkflowMetadata,
} from "../program/built_in_queries.ts";
import type { MessageShape } from "../program/definition.ts";
import { SDK_NAME } from "../program/sdk_name.ts";
import type { WaitKind } from "../program/snapshot.ts";
import { enhancedStackTrace, stackTraceText } from "../program/stack_traces.ts";
import type { Fiber } from "../scheduler/fiber.ts";
import type { RunState } from "../scheduler/run_state.ts";

/** Returns the result of a built-in query; undefined for other names. */
export function answerBuiltIn(run: RunState, name: string): Payload | undefined {
  const answer = builtIn(run, name);
  return answer === undefined ? undefined : defaultPayloadConverter.toPayload(answer);
}

function builtIn(run: RunState, name: string): unknown {
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

/** Timers inside another wait, which have no separate position. */
const INSIDE: ReadonlySet<WaitKind> = new Set(["receiveTimeout", "selectTimer"]);

/** In order of the fibers' starts. */
function waitsOf(run: RunState) {
  const fibers = new Map([...run.fibers].map((fiber, i) => [fiber, i]));
  const at = ({ fiber }: { fiber: Fiber }) => fibers.get(fiber) ?? fibers.size;
  const places = [...run.pending].filter(({ waitsFor }) => !INSIDE.has(waitsFor));
  return places.sort((a, b) => at(a) - at(b)).map((awaiter) => awaiter.inspect());
}

/** The declared messages, and those that the code accepts at this point. */
function metadata(run: RunState): WorkflowMetadata {
  const { messages = [], queries, name } = run.definition;
  const receive = run.receive?.inspect();
  const named = (kind: MessageShape["kind"], more: Iterable<string>): InteractionDefinition[] => {
    const found = new Map<string, InteractionDefinition>();
    for (const each of more) found.set(each, { name: each });
    for (const message of run.receive?.messages() ?? []) {
      if (message.kind === kind) found.set(message.name, interaction(message));
    }
    for (const message of messages) {
      if (message.kind === kind) found.set(message.name, interaction(message));
    }
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
