// What handlers of Nexus operations attach to calls of the client, beside the options that programs give: links, callbacks, request ids.
// The keys are the official packages': what their copies attach is honoured as well.
import { type Callback, CallbackSchema, type Link, LinkSchema } from "../../api/generated/temporal/api/common/v1/message_pb.ts";
import { OnConflictOptionsSchema } from "../../api/generated/temporal/api/workflow/v1/message_pb.ts";
import type { MethodName } from "../../service/raw.ts";
import type { OperationContext } from "../../client/interceptors.ts";
import { fromPlain, type PlainMessage, toPlain } from "../common/plain_proto.ts";

/** On options of starts and of signals with start. */
export const START: unique symbol = Symbol.for("__temporal_internal_client_workflow_start_options") as never;
/** On options of updates. */
export const UPDATE: unique symbol = Symbol.for("__temporal_internal_client_workflow_update_options") as never;
/** On handles, for their signals. */
export const SIGNAL: unique symbol = Symbol.for("__temporal_internal_client_workflow_signal_options") as never;
/** On handles, for their queries. */
export const QUERY: unique symbol = Symbol.for("__temporal_internal_client_workflow_query_options") as never;

/** Attached to a call, and what comes of it: messages in the official packages' form. */
export interface Attached {
  /** In place of one that is made for the call. */
  requestId?: string;
  /** Called when the run, or the update, has ended. */
  completionCallbacks?: PlainMessage[];
  /** What the call is made for. */
  links?: PlainMessage[];
  /** What a run gets of these that is there already. */
  onConflictOptions?: PlainMessage;
  /** Set by the call: what it led to. */
  responseLink?: PlainMessage;
  /** Set by an update that has ended: how. */
  outcome?: PlainMessage;
}

type Request = { [field: string]: unknown };

/** Fields of requests. */
function fieldsOf({ requestId, completionCallbacks, links, onConflictOptions }: Attached) {
  return {
    ...(requestId !== undefined && { requestId }),
    ...(links !== undefined && { links: links.map((link): Link => fromPlain(LinkSchema, link)) }),
    ...(completionCallbacks !== undefined && {
      completionCallbacks: completionCallbacks.map((callback): Callback => fromPlain(CallbackSchema, callback)),
    }),
    ...(onConflictOptions !== undefined && { onConflictOptions: fromPlain(OnConflictOptionsSchema, onConflictOptions) }),
  };
}

function attach(method: MethodName, request: Request, attached: Attached): Request {
  if (method === "updateWorkflowExecution") {
    return { ...request, request: { ...request["request"] as Request, ...fieldsOf(attached) } };
  }
  return { ...request, ...fieldsOf(attached) };
}

/** Methods whose request or answer have to do with what is attached. */
const METHODS: ReadonlySet<MethodName> = new Set<MethodName>([
  ...["startWorkflowExecution", "signalWithStartWorkflowExecution", "signalWorkflowExecution"] as const,
  ...["updateWorkflowExecution", "queryWorkflow"] as const,
]);

interface Answer {
  readonly link?: Link | undefined;
  readonly signalLink?: Link | undefined;
  readonly outcome?: unknown;
}

/** The context with these attached to its calls; as it is where there are none. */
export function attaching(context: OperationContext, attached: Attached | undefined): OperationContext {
  if (attached === undefined) return context;
  const { calls } = context;
  type Call = (method: MethodName, request: Request, ...rest: unknown[]) => Promise<Answer | undefined>;
  const through = (name: "call" | "longPoll"): Call => async (method, request, ...rest) => {
    const call = calls[name].bind(calls) as unknown as Call;
    if (!METHODS.has(method)) return await call(method, request, ...rest);
    // A query writes no event that anything could be attached to.
    const answer = await call(method, method === "queryWorkflow" ? request : attach(method, request, attached), ...rest);
    const link = method === "signalWithStartWorkflowExecution" ? answer?.signalLink : answer?.link;
    if (link !== undefined) attached.responseLink = toPlain(LinkSchema, link);
    if (method === "updateWorkflowExecution" && answer?.outcome !== undefined) attached.outcome = answer.outcome;
    return answer;
  };
  return { ...context, calls: { call: through("call"), longPoll: through("longPoll") } as unknown as typeof calls };
}

/** What is attached to options, or to a handle. */
export function attachedTo(
  holder: object,
  key: typeof START | typeof UPDATE | typeof SIGNAL | typeof QUERY,
): Attached | undefined {
  return (holder as { [key: symbol]: Attached | undefined })[key];
}
