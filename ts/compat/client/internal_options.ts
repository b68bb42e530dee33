// Attachments of Nexus operation handlers to client calls, in addition to the program's options:
// links, callbacks, request ids. The keys are the official packages', so that their attachments
// work as well.
import {
  type Callback,
  CallbackSchema,
  type Link,
  LinkSchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { OnConflictOptionsSchema } from "../../messages/generated/temporal/api/workflow/v1/message_pb.ts";
import type { MethodName } from "../../service/raw.ts";
import type { OperationContext } from "../../client/interceptors.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";

/** Key in options of starts and of signals with start. */
export const START: unique symbol = Symbol.for(
  "__temporal_internal_client_workflow_start_options",
) as never;
/** Key in options of updates. */
export const UPDATE: unique symbol = Symbol.for(
  "__temporal_internal_client_workflow_update_options",
) as never;
/** Key in handles, for their signals. */
export const SIGNAL: unique symbol = Symbol.for(
  "__temporal_internal_client_workflow_signal_options",
) as never;
/** Key in handles, for their queries. */
export const QUERY: unique symbol = Symbol.for(
  "__temporal_internal_client_workflow_query_options",
) as never;

/** Attachments of a call, and its results: messages in the official packages' form. */
export interface Attached {
  /** Replaces the request id of the call. */
  requestId?: string;
  /** Called when the run or the update has ended. */
  completionCallbacks?: PlainMessage[];
  /** Links to what made the call. */
  links?: PlainMessage[];
  /** Attachments for an existing run. */
  onConflictOptions?: PlainMessage;
  /** Set by the call: link to its result. */
  responseLink?: PlainMessage;
  /** Set by a completed update: its outcome. */
  outcome?: PlainMessage;
}

type Request = { [field: string]: unknown };

function makeRequestFields({ requestId, completionCallbacks, links, onConflictOptions }: Attached) {
  return {
    ...(requestId !== undefined && { requestId }),
    ...(links !== undefined && { links: links.map((link): Link => fromPlain(LinkSchema, link)) }),
    ...(completionCallbacks !== undefined && {
      completionCallbacks: completionCallbacks.map((callback): Callback =>
        fromPlain(CallbackSchema, callback)
      ),
    }),
    ...(onConflictOptions !== undefined &&
      { onConflictOptions: fromPlain(OnConflictOptionsSchema, onConflictOptions) }),
  };
}

function attach(method: MethodName, request: Request, attached: Attached): Request {
  if (method === "updateWorkflowExecution") {
    return {
      ...request,
      request: { ...request["request"] as Request, ...makeRequestFields(attached) },
    };
  }
  return { ...request, ...makeRequestFields(attached) };
}

/** Methods with attachments in their requests or responses. */
const METHODS: ReadonlySet<MethodName> = new Set<MethodName>([
  ...[
    "startWorkflowExecution",
    "signalWithStartWorkflowExecution",
    "signalWorkflowExecution",
  ] as const,
  ...["updateWorkflowExecution", "queryWorkflow"] as const,
]);

interface Answer {
  readonly link?: Link | undefined;
  readonly signalLink?: Link | undefined;
  readonly outcome?: unknown;
}

/** Returns the context with these attachments; unchanged without any. */
export function attaching(
  context: OperationContext,
  attached: Attached | undefined,
): OperationContext {
  if (attached === undefined) return context;
  const { calls } = context;
  type Call = (
    method: MethodName,
    request: Request,
    ...rest: unknown[]
  ) => Promise<Answer | undefined>;
  const through = (name: "call" | "longPoll"): Call => async (method, request, ...rest) => {
    const call = calls[name].bind(calls) as unknown as Call;
    if (!METHODS.has(method)) return await call(method, request, ...rest);
    // A query writes no event to which anything could be attached.
    const answer = await call(
      method,
      method === "queryWorkflow" ? request : attach(method, request, attached),
      ...rest,
    );
    const link = method === "signalWithStartWorkflowExecution" ? answer?.signalLink : answer?.link;
    if (link !== undefined) attached.responseLink = toPlain(LinkSchema, link);
    if (method === "updateWorkflowExecution" && answer?.outcome !== undefined) {
      attached.outcome = answer.outcome;
    }
    return answer;
  };
  return {
    ...context,
    calls: { call: through("call"), longPoll: through("longPoll") } as unknown as typeof calls,
  };
}

/** Returns the attachments of options, or of a handle. */
export function attachedTo(
  holder: object,
  key: typeof START | typeof UPDATE | typeof SIGNAL | typeof QUERY,
): Attached | undefined {
  return (holder as { [key: symbol]: Attached | undefined })[key];
}
