// Functions of the application that a client calls by name in the process that has the engine. Both
// ends of the call: its path, its messages, and the client's side.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  type WorkflowQueryResult,
  WorkflowQueryResultSchema,
} from "../messages/generated/temporal/api/query/v1/message_pb.ts";
import { QueryWorkflowRequestSchema } from "../messages/generated/temporal/api/workflowservice/v1/request_response_pb.ts";
import { FUNCTION_PATH } from "../service/functions.ts";
import { Code, type RawService, ServiceError } from "../service/raw.ts";
import type { CallSettings } from "./calls.ts";
import { CALL_TIMEOUT_MS } from "./calls.ts";
import { deadlineOf, decodeOne, encodeArgs, errorOfFailure, nameError } from "./context.ts";
import { FunctionFailedError } from "./errors.ts";
import { intercept, type OperationContext } from "./interceptors.ts";
import { refuseLoneSurrogates } from "./well_formed.ts";

/**
 * A function of `open({ functions })`: it receives the transaction, and the arguments of
 * `client.call`.
 */
// deno-lint-ignore no-explicit-any
export type AppFunction = (db: any, ...args: any[]) => unknown;

/** Arguments of `client.call` for a function. */
export type FunctionArgs<F extends AppFunction> = F extends (db: never, ...args: infer A) => unknown
  ? A
  : never;

/** Calls a function of the process that has the engine. */
export async function callFunction(
  context: OperationContext,
  service: RawService,
  name: string,
  args: readonly unknown[],
  settings: CallSettings = {},
): Promise<unknown> {
  if (typeof name !== "string" || name === "") {
    throw new TypeError(
      `call needs the name of a function and then its arguments: call("damageNpc", "npc-7", 10), not ${
        typeof name === "string" ? '""' : typeof name
      }`,
    );
  }
  return await intercept(context, "callFunction", { name, args }, async (input) => {
    const what = `function "${input.name}"`;
    const payloads = encodeArgs(context, `the arguments of ${what}`, input.args);
    const message = create(QueryWorkflowRequestSchema, {
      namespace: context.namespace,
      query: { queryType: input.name, queryArgs: payloads },
    });
    refuseLoneSurrogates(message);
    const { codec } = context;
    const plain = toBinary(QueryWorkflowRequestSchema, message);
    const request = await codec?.encode(QueryWorkflowRequestSchema, plain) ?? plain;
    const answer = await ask(context, service, input.name, request, settings);
    const bytes = await codec?.decode(WorkflowQueryResultSchema, answer) ?? answer;
    const result = fromBinary(WorkflowQueryResultSchema, bytes);
    return returned(context, input.name, result);
  });
}

function returned(context: OperationContext, name: string, result: WorkflowQueryResult): unknown {
  if (result.failure === undefined) return decodeOne(context, result.answer);
  throw new FunctionFailedError(name, errorOfFailure(context, result.failure));
}

/** One request. It is not repeated: the function may have run. */
async function ask(
  context: OperationContext,
  service: RawService,
  name: string,
  request: Uint8Array,
  settings: CallSettings,
): Promise<Uint8Array> {
  const what = `function "${name}"`;
  if (service.callOther === undefined) throw noFunctions(what);
  const deadline = deadlineOf(context, settings, CALL_TIMEOUT_MS);
  const { signal } = deadline;
  signal?.throwIfAborted();
  const timeoutMs = deadline.remaining();
  try {
    return await service.callOther(FUNCTION_PATH, request, {
      ...(signal && { signal }),
      ...(timeoutMs < Infinity && { timeoutMs }),
    });
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof ServiceError && error.code === Code.UNIMPLEMENTED) {
      throw noFunctions(what, error);
    }
    const { code, reason } = error as Partial<ServiceError>;
    if (code === Code.NOT_FOUND && reason === "UnknownFunction") throw error;
    throw nameError(context, error, { what });
  }
}

function noFunctions(what: string, cause?: ServiceError): ServiceError {
  return new ServiceError(
    Code.UNIMPLEMENTED,
    `${what} cannot be called: only an embedded engine runs functions, and this service is a cluster or another server. ` +
      "Send a signal or an update to a workflow, and change your tables in its activities",
    "NoFunctions",
    {},
    cause && { cause },
  );
}
