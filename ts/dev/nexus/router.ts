// The calls that the engines of a server request: to handlers by endpoint, and callbacks to the
// engine whose workflow waits for an operation.
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  EngineNexusCallEnded as Ended,
  EngineNexusOutcome as Field,
} from "../../messages/generated/fields.ts";
import {
  CallbackSchema,
  PayloadSchema,
} from "../../messages/generated/temporal/api/common/v1/message_pb.ts";
import { EventType } from "../../messages/generated/temporal/api/enums/v1/event_type_pb.ts";
import { FailureSchema } from "../../messages/generated/temporal/api/failure/v1/message_pb.ts";
import {
  type NexusOperationScheduledEventAttributes,
  NexusOperationScheduledEventAttributesSchema,
} from "../../messages/generated/temporal/api/history/v1/message_pb.ts";
import {
  type Request,
  RequestSchema,
} from "../../messages/generated/temporal/api/nexus/v1/message_pb.ts";
import { Fields, Message } from "../../messages/wire.ts";
import type { EmbeddedEngine } from "../../engine/embedded_engine.ts";
import {
  type NexusCall,
  NexusCallKind,
  type NexusEndpointName,
  type NexusHost,
} from "../../engine/nexus_calls.ts";
import { Code, ServiceError } from "../../service/raw.ts";
import { timestampOfMs } from "../../engine/schedules/durations.ts";
import type { NexusEndpoints } from "./endpoints.ts";
import { linkBytes, linksOfResponse, nexusLink } from "./links.ts";
import { CALL_OUTCOMES, type CallOutcome, handlerFailure, outcomeOfCall } from "./outcomes.ts";
import type { NexusTaskMatcher } from "./tasks.ts";

/** As on a server: an operation's handler has this long for one call. */
const CALL_TIMEOUT_MS = 10_000;
/** Where callbacks go: into this process. */
const CALLBACK_URL = "temporal://system";
const TOKEN_HEADER = "temporal-callback-token";
/** Errors that another delivery of a callback would meet again. */
const FINAL_CODES: ReadonlySet<number> = new Set([
  Code.NOT_FOUND,
  Code.INVALID_ARGUMENT,
  Code.FAILED_PRECONDITION,
]);

/** The operation that a callback completes. */
interface CallbackToken {
  readonly namespace: string;
  readonly workflowId: string;
  readonly runId: string;
  readonly scheduledId: number;
  readonly requestId: string;
}

export class NexusRouter implements NexusHost {
  readonly #endpoints: NexusEndpoints;
  readonly #tasks: NexusTaskMatcher;
  readonly #engineOf: (namespace: string) => EmbeddedEngine | undefined;
  #begin!: () => void;
  readonly #begun = new Promise<void>((resolve) => this.#begin = resolve);

  constructor(
    endpoints: NexusEndpoints,
    tasks: NexusTaskMatcher,
    engineOf: (namespace: string) => EmbeddedEngine | undefined,
  ) {
    this.#endpoints = endpoints;
    this.#tasks = tasks;
    this.#engineOf = engineOf;
  }

  endpoints(): readonly NexusEndpointName[] {
    return this.#endpoints.list();
  }

  /** All namespaces are open: makes the calls that engines have requested while they opened. */
  begin(): void {
    this.#begin();
  }

  async perform(namespace: string, call: NexusCall): Promise<Uint8Array> {
    await this.#begun;
    if (call.kind === NexusCallKind.NEXUS_CALL_KIND_CALLBACK) {
      return encodeEnded(call, "", await this.#deliver(namespace, call));
    }
    const attributes = fromBinary(NexusOperationScheduledEventAttributesSchema, call.attributes);
    const outcome = await this.#callHandler(namespace, call, attributes);
    return encodeEnded(call, attributes.requestId, outcome);
  }

  async #callHandler(
    namespace: string,
    call: NexusCall,
    attributes: NexusOperationScheduledEventAttributes,
  ): Promise<CallOutcome> {
    const starts = call.kind === NexusCallKind.NEXUS_CALL_KIND_START;
    const final = starts ? CALL_OUTCOMES.failed : CALL_OUTCOMES.rejected;
    const endpoint = this.#endpoints.byId(attributes.endpointId) ??
      this.#endpoints.byName(attributes.endpoint);
    if (endpoint === undefined) {
      return handlerFailure("NOT_FOUND", "endpoint not registered", final, true);
    }
    if (this.#engineOf(endpoint.namespace) === undefined) {
      return handlerFailure(
        "NOT_FOUND",
        `namespace not found: ${JSON.stringify(endpoint.namespace)}`,
        final,
      );
    }
    const timeoutMs = call.remainingMs > 0
      ? Math.min(CALL_TIMEOUT_MS, call.remainingMs)
      : CALL_TIMEOUT_MS;
    const request = requestOf(namespace, call, attributes, timeoutMs);
    const { namespace: target, taskQueue } = endpoint;
    return outcomeOfCall(await this.#tasks.dispatch(target, taskQueue, request, timeoutMs), final);
  }

  /** Delivers the outcome of a closed workflow to the one that waits for it. */
  async #deliver(namespace: string, call: NexusCall): Promise<CallOutcome> {
    try {
      const token = tokenOf(call.attributes);
      const engine = this.#engineOf(token.namespace);
      if (engine === undefined) {
        throw new ServiceError(Code.NOT_FOUND, `Namespace ${token.namespace} is not found.`);
      }
      await engine.endNexusOperation(completionOf(namespace, call, token));
      return { what: CALL_OUTCOMES.delivered };
    } catch (error) {
      const isFinal = !(error instanceof ServiceError) || FINAL_CODES.has(error.code);
      const failure = create(FailureSchema, {
        message: (error as Error).message,
        failureInfo: { case: "applicationFailureInfo", value: { nonRetryable: isFinal } },
      });
      return { what: isFinal ? CALL_OUTCOMES.rejected : CALL_OUTCOMES.retry, failure };
    }
  }
}

/** The request of a call, as a handler gets it. */
function requestOf(
  namespace: string,
  call: NexusCall,
  attributes: NexusOperationScheduledEventAttributes,
  timeoutMs: number,
): Request {
  const { service, operation, requestId } = attributes;
  const { workflowId, runId, scheduledId, operationToken, remainingMs } = call;
  const header: { [name: string]: string } = {};
  for (const [name, value] of Object.entries(attributes.nexusHeader)) {
    header[name.toLowerCase()] = value;
  }
  header["request-timeout"] = `${Math.ceil(timeoutMs)}ms`;
  if (call.kind === NexusCallKind.NEXUS_CALL_KIND_CANCEL) {
    return create(RequestSchema, {
      header,
      scheduledTime: timestampOfMs(Date.now()),
      variant: {
        case: "cancelOperation",
        value: { service, operation, operationId: operationToken, operationToken },
      },
    });
  }
  if (remainingMs > 0) header["operation-timeout"] ??= `${Math.ceil(remainingMs)}ms`;
  const token: CallbackToken = { namespace, workflowId, runId, scheduledId, requestId };
  const type = EventType.NEXUS_OPERATION_SCHEDULED;
  return create(RequestSchema, {
    header,
    scheduledTime: timestampOfMs(Date.now()),
    variant: {
      case: "startOperation",
      value: {
        service,
        operation,
        requestId,
        callback: CALLBACK_URL,
        callbackHeader: { [TOKEN_HEADER]: encodeURIComponent(JSON.stringify(token)) },
        ...(attributes.input !== undefined && { payload: attributes.input }),
        links: [nexusLink({ namespace, workflowId, runId, eventId: scheduledId, type })],
      },
    },
  });
}

/** Throws for a callback that this server did not create. */
function tokenOf(callback: Uint8Array): CallbackToken {
  const { variant } = fromBinary(CallbackSchema, callback);
  const header = variant.case === "nexus" ? variant.value.header : {};
  const name = Object.keys(header).find((key) => key.toLowerCase() === TOKEN_HEADER);
  const text = name === undefined ? undefined : header[name];
  let token: Partial<CallbackToken> | null;
  try {
    token = JSON.parse(decodeURIComponent(text ?? ""));
  } catch {
    token = null;
  }
  const { namespace, workflowId, runId, scheduledId, requestId } = token ?? {};
  if (
    typeof namespace !== "string" || typeof workflowId !== "string" || typeof runId !== "string" ||
    typeof scheduledId !== "number" || typeof requestId !== "string"
  ) {
    throw new ServiceError(
      Code.INVALID_ARGUMENT,
      `the callback has no valid ${TOKEN_HEADER}: pass on the callback header of the Nexus request`,
    );
  }
  return { namespace, workflowId, runId, scheduledId, requestId };
}

/** The NexusOutcome for the caller's engine. */
function completionOf(namespace: string, call: NexusCall, token: CallbackToken): Uint8Array {
  const outcome = new Message().text(Field.workflowId, token.workflowId)
    .text(Field.runId, token.runId)
    .int(Field.scheduledId, token.scheduledId).text(Field.requestId, token.requestId);
  const { workflowId, runId } = call;
  const type = EventType.WORKFLOW_EXECUTION_STARTED;
  const rest: (readonly [tag: number, value: number | Uint8Array])[] = [];
  const links: Uint8Array[] = [];
  for (const at = new Fields(call.outcome); at.next();) {
    if (at.tag === Field.what || at.tag === Field.startedUs) rest.push([at.tag, at.int()]);
    else if (at.tag === Field.result || at.tag === Field.failure) rest.push([at.tag, at.bytes()]);
    // To the event that attached the callback to a running workflow.
    else if (at.tag === Field.links) links.push(at.bytes());
  }
  for (const [tag, value] of rest) {
    if (typeof value === "number") outcome.int(tag, value);
    else outcome.bytes(tag, value);
  }
  if (links.length === 0) links.push(linkBytes({ namespace, workflowId, runId, eventId: 1, type }));
  for (const link of links) outcome.bytes(Field.links, link);
  return outcome.finish();
}

function encodeEnded(call: NexusCall, requestId: string, outcome: CallOutcome): Uint8Array {
  const { result, failure, operationToken = "", links = [] } = outcome;
  return new Message().int(Ended.kind, call.kind).message(Ended.outcome, (message) => {
    message.text(Field.workflowId, call.workflowId).text(Field.runId, call.runId)
      .int(Field.scheduledId, call.scheduledId).text(Field.requestId, requestId)
      .int(Field.attempt, call.attempt).int(Field.what, outcome.what);
    if (result !== undefined) message.bytes(Field.result, toBinary(PayloadSchema, result));
    if (failure !== undefined) message.bytes(Field.failure, toBinary(FailureSchema, failure));
    message.text(Field.operationToken, operationToken);
    for (const link of linksOfResponse(links)) message.bytes(Field.links, link);
  }).finish();
}
