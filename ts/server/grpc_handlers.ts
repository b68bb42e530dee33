// A RawService as an HTTP handler: gRPC, gRPC-web and Connect, with binary bodies that are not
// decoded, or JSON. Listening and access control are in listener.ts and http_guard.ts.
import { type DescMethodUnary, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code as ConnectCode, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { isServiceGone } from "../service/retry.ts";
import type { AnyHandler } from "./bounded_connections.ts";
import { type NamedRefusal, writeDetail } from "../api/error_details.ts";
import { WorkflowService } from "../messages/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { METHOD_NAMES, rawMethod } from "../api/raw_methods.ts";
import { BodyBudget, bodyForm } from "./request_body.ts";
import { type ExtraMethod, extraRoutes } from "./extra_methods.ts";
import { routesHandler } from "./node_adapter.ts";
import { answerUnknown, type UnknownMethod } from "./unknown_methods.ts";
import { EmptySchema } from "../messages/well_known.ts";

/** A listener for requests of node:http and node:http2. */
export type ServiceHandler = AnyHandler;

/** Maximum size of a request. Services have smaller limits with better messages. */
const READ_MAX_BYTES = 64 * 1024 * 1024;
/** Bytes that all requests together may occupy, as a multiple of the maximum size. */
const AT_ONCE = 2;

/**
 * Default deadline of queries, as on a Temporal server. Temporal's command line sets none, and an
 * endless wait for a worker looks like a server that hangs.
 */
const QUERY_MS = 30_000;

export interface ServiceHandlerOptions {
  /** Methods in addition to those of WorkflowService. */
  readonly extra?: readonly ExtraMethod[];
  /** Called for an unknown method; returns the message for the caller. */
  readonly unknown?: UnknownMethod;
  /** Maximum size of a request in bytes, as received and decoded. Default: 64 MiB. */
  readonly maxRequestBytes?: number;
  /** Called when a response could not be created. */
  onError?(error: Error): void;
}

export function serviceHandler(
  service: RawService,
  options: ServiceHandlerOptions = {},
): ServiceHandler {
  const { extra = [], unknown, maxRequestBytes: maxBytes = READ_MAX_BYTES, onError } = options;
  const call = async (
    name: MethodName,
    request: Uint8Array,
    context: HandlerContext,
  ): Promise<Uint8Array> => {
    const timeoutMs = context.timeoutMs() ?? (name === "queryWorkflow" ? QUERY_MS : undefined);
    try {
      return await service.call(name, request, {
        signal: context.signal,
        ...(timeoutMs !== undefined && { timeoutMs }),
      });
    } catch (error) {
      throw toConnectError(error);
    }
  };
  const routed = {
    maxBytes,
    budget: new BodyBudget(maxBytes * AT_ONCE),
    ...(onError && { onError }),
  };
  const notFound = answerUnknown(unknown);
  const binary = routesHandler((router) => {
    for (const name of METHOD_NAMES) {
      router.rpc(
        rawMethod(name),
        async (request, context) =>
          fromBinary(EmptySchema, await call(name, toBinary(EmptySchema, request), context)),
      );
    }
    extraRoutes(router, extra, toConnectError);
  }, routed);
  // JSON needs message types, whose descriptors are slow to build: created with the first JSON
  // request.
  let json: typeof binary | undefined;
  const jsonHandler = () =>
    json ??= routesHandler((router) => {
      for (const name of METHOD_NAMES) {
        const method = WorkflowService.method[name] as DescMethodUnary;
        router.rpc(
          method,
          async (request, context) =>
            fromBinary(method.output, await call(name, toBinary(method.input, request), context)),
        );
      }
    }, routed);
  return (request, response) => {
    const handler = (bodyForm(request.headers).json ? jsonHandler() : binary)(request);
    return (handler ?? notFound)(request, response);
  };
}

/**
 * Converts an error for the wire. A stopped service may return at the same address, so callers see
 * it as unavailable.
 */
function toConnectError(error: unknown): ConnectError {
  if (!(error instanceof ServiceError)) {
    return new ConnectError(
      error instanceof Error ? error.message : String(error),
      ConnectCode.Internal,
    );
  }
  const answer = new ConnectError(error.message, error.code as number as ConnectCode);
  const detail = isServiceGone(error) ? undefined : writeDetail(refusalOf(error));
  if (detail !== undefined) answer.details.push(detail);
  return answer;
}

function refusalOf({ reason, metadata, failure, operations }: ServiceError): NamedRefusal {
  if (operations.length === 0) return { reason, metadata, failure };
  const statuses = operations.map((one) => ({
    code: one?.code ?? 0,
    message: one?.message ?? "",
    detail: one && { reason: one.reason, metadata: one.metadata },
  }));
  return { reason, metadata, operations: statuses };
}
