// A RawService as an HTTP handler: gRPC, gRPC-web and Connect, with binary bodies that pass through unread, or JSON. Who listens, and who
// may call, is somebody else's business (listener.ts, ../app/store_socket.ts).
import { type DescMethodUnary, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code as ConnectCode, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { isServiceGone } from "../service/retry.ts";
import type { AnyHandler } from "./bounded_connections.ts";
import { type NamedRefusal, writeDetail } from "../api/error_details.ts";
import { WorkflowService } from "../api/generated/temporal/api/workflowservice/v1/service_pb.ts";
import { METHOD_NAMES, rawMethod } from "../api/raw_methods.ts";
import { BodyBudget, bodyForm } from "./request_body.ts";
import { type ExtraMethod, extraRoutes } from "./extra_methods.ts";
import { routesHandler } from "./node_adapter.ts";
import { answerUnknown, type UnknownMethod } from "./unknown_methods.ts";
import { EmptySchema } from "../api/well_known.ts";

/** A listener for requests of node:http and node:http2. */
export type ServiceHandler = AnyHandler;

/** The largest request that is read. Services have smaller limits for what they take, with better words. */
const READ_MAX_BYTES = 64 * 1024 * 1024;
/** What all requests may hold at once, times the largest one. */
const AT_ONCE = 2;

/**
 * A query whose caller names no deadline (Temporal's command line) waits so long for a worker, as on a Temporal server; a wait without end
 * looks like a server that hangs.
 */
const QUERY_MS = 30_000;

export interface ServiceHandlerOptions {
  /** Methods beside those of WorkflowService that TypeScript knows. */
  readonly extra?: readonly ExtraMethod[];
  /** Told of a call of a method that nobody here has; answers what its caller is told. */
  readonly unknown?: UnknownMethod;
  /** The largest request that is read, in bytes, as it arrives and decoded. Default: 64 MiB. */
  readonly maxRequestBytes?: number;
  /** Told of answers that could not be made. */
  onError?(error: Error): void;
}

export function serviceHandler(service: RawService, options: ServiceHandlerOptions = {}): ServiceHandler {
  const { extra = [], unknown, maxRequestBytes: maxBytes = READ_MAX_BYTES, onError } = options;
  const call = async (name: MethodName, request: Uint8Array, context: HandlerContext): Promise<Uint8Array> => {
    const timeoutMs = context.timeoutMs() ?? (name === "queryWorkflow" ? QUERY_MS : undefined);
    try {
      return await service.call(name, request, { signal: context.signal, ...(timeoutMs !== undefined && { timeoutMs }) });
    } catch (error) {
      throw toConnectError(error);
    }
  };
  const routed = { maxBytes, budget: new BodyBudget(maxBytes * AT_ONCE), ...(onError && { onError }) };
  const notFound = answerUnknown(unknown);
  const binary = routesHandler((router) => {
    for (const name of METHOD_NAMES) {
      router.rpc(
        rawMethod(name),
        async (request, context) => fromBinary(EmptySchema, await call(name, toBinary(EmptySchema, request), context)),
      );
    }
    extraRoutes(router, extra, toConnectError);
  }, routed);
  // JSON needs the messages' own types, whose descriptors take a while to build: with the first request of that kind.
  let json: typeof binary | undefined;
  const jsonHandler = () =>
    json ??= routesHandler((router) => {
      for (const name of METHOD_NAMES) {
        const method = WorkflowService.method[name] as DescMethodUnary;
        router.rpc(
          method,
          async (request, context) => fromBinary(method.output, await call(name, toBinary(method.input, request), context)),
        );
      }
    }, routed);
  return (request, response) => {
    const handler = (bodyForm(request.headers).json ? jsonHandler() : binary)(request);
    return (handler ?? notFound)(request, response);
  };
}

/** The refusal as it travels. A service that is gone here may come back under the same address: for callers it is unavailable. */
function toConnectError(error: unknown): ConnectError {
  if (!(error instanceof ServiceError)) {
    return new ConnectError(error instanceof Error ? error.message : String(error), ConnectCode.Internal);
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
