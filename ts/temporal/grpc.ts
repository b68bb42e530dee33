// A RawService over gRPC: a Temporal cluster, or anything that speaks its protocol. Requests and responses pass through as bytes; only
// their outermost fields are looked at, because the transport wants a message type: Empty keeps every field that it does not know.
// Runs in Node and Deno (HTTP/2); browsers need a gateway.
import { type DescMethodUnary, fromBinary, toBinary } from "@bufbuild/protobuf";
import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { Code as ConnectCode, ConnectError, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { type CallOptions, Code, type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { WorkflowService } from "./generated/temporal/api/workflowservice/v1/service_pb.ts";

/** PEM texts. All absent: the system's certificates. */
export interface TlsOptions {
  /** Certificates of the authorities to trust. */
  serverRootCaCertificate?: string;
  /** The client's own certificate and its key, where the server asks for one. */
  clientCertificate?: string;
  clientKey?: string;
  /** Name to expect in the server's certificate instead of the address's. */
  serverName?: string;
}

export interface GrpcOptions {
  /** host:port */
  address: string;
  /** Default: false, plain HTTP/2; true when an API key is given. */
  tls?: boolean | TlsOptions;
  /** Sent as a bearer token; a function is asked before each call. */
  apiKey?: string | (() => string | Promise<string>);
  /** Sent with every call. */
  metadata?: { readonly [name: string]: string };
}

/** Deadline of a call that names none; polls name theirs. */
const CALL_TIMEOUT_MS = 30_000;
/** The largest response that is read: histories come in pages of at most 4 MiB, plus what frames them. */
const READ_MAX_BYTES = 64 * 1024 * 1024;

export class GrpcService implements RawService {
  readonly losesCancelledPolls = true;
  readonly #sessions: Http2SessionManager;
  readonly #transport: Transport;
  readonly #options: GrpcOptions;
  #closed = false;

  /** Connects with the first call, and again whenever the connection was lost. */
  constructor(options: GrpcOptions) {
    const { address, apiKey } = options;
    const tls = options.tls ?? apiKey !== undefined;
    const baseUrl = `${tls === false ? "http" : "https"}://${address}`;
    if (!URL.canParse(baseUrl) || !/^[^/]+:\d+$/.test(address)) {
      throw new TypeError(`"${address}" is not an address; write "host:port", without a scheme`);
    }
    this.#options = options;
    this.#sessions = new Http2SessionManager(
      baseUrl,
      { pingIntervalMs: 30_000, pingTimeoutMs: 15_000, pingIdleConnection: false },
      typeof tls === "object" ? tlsOptions(tls) : undefined,
    );
    this.#transport = createGrpcTransport({
      baseUrl,
      sessionManager: this.#sessions,
      readMaxBytes: READ_MAX_BYTES,
      // Payloads are often compressed or encrypted already, and one core is better spent on workflows.
      acceptCompression: [],
    });
  }

  async call(method: MethodName, request: Uint8Array, options: CallOptions = {}): Promise<Uint8Array> {
    const { signal, timeoutMs = CALL_TIMEOUT_MS } = options;
    if (this.#closed) throw new ServiceError(Code.CANCELLED, "the connection is closed");
    try {
      const response = await this.#transport.unary(
        methodOf(method),
        signal,
        // The header takes whole milliseconds of at most eight digits.
        Math.min(Math.max(1, Math.ceil(timeoutMs)), 99_999_999),
        await this.#headers(),
        fromBinary(EmptySchema, request),
      );
      return toBinary(EmptySchema, response.message);
    } catch (error) {
      if (this.#closed) {
        throw new ServiceError(Code.CANCELLED, `the connection was closed during ${method}`, "", {}, { cause: error });
      }
      throw toServiceError(error, method, signal);
    }
  }

  /** Ends the connection; open calls are refused. */
  close(): void {
    this.#closed = true;
    this.#sessions.abort(new ConnectError("the connection is closed", ConnectCode.Canceled));
  }

  async #headers(): Promise<Headers> {
    const headers = new Headers({ "client-name": "temporalex-ts", "client-version": "0.1.0", ...this.#options.metadata });
    const { apiKey } = this.#options;
    if (apiKey !== undefined) headers.set("authorization", `Bearer ${typeof apiKey === "string" ? apiKey : await apiKey()}`);
    return headers;
  }
}

type RawMethod = DescMethodUnary<typeof EmptySchema, typeof EmptySchema>;
const methods = new Map<MethodName, RawMethod>();

/** The method as one of Empty to Empty. */
function methodOf(name: MethodName): RawMethod {
  let method = methods.get(name);
  if (method === undefined) {
    const described = WorkflowService.method[name];
    method = Object.create(described, {
      input: { value: EmptySchema },
      output: { value: EmptySchema },
    }) as RawMethod;
    methods.set(name, method);
  }
  return method;
}

function tlsOptions(tls: TlsOptions): { [name: string]: unknown } {
  if ((tls.clientCertificate === undefined) !== (tls.clientKey === undefined)) {
    throw new TypeError("a client certificate and its key belong together; one of them is missing");
  }
  return {
    ...(tls.serverRootCaCertificate === undefined ? {} : { ca: tls.serverRootCaCertificate }),
    ...(tls.clientCertificate === undefined ? {} : { cert: tls.clientCertificate, key: tls.clientKey }),
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
  };
}

/** What went wrong with a call, with the name that the server's details give it. */
function toServiceError(error: unknown, method: MethodName, signal: AbortSignal | undefined): ServiceError {
  if (signal?.aborted === true) {
    return new ServiceError(Code.CANCELLED, `${method} was given up by its caller`, "", {}, { cause: error });
  }
  const { code, rawMessage, details } = ConnectError.from(error);
  const message = rawMessage === "" ? `${method} failed` : rawMessage;
  // Lost connections come in several dresses: a stream that was reset with CANCEL though nobody here asked for it, or one that ended
  // before its answer. Nothing is known of what the server did, as with any unavailable service.
  const lost = code === ConnectCode.Canceled || /^protocol error: (incomplete|missing)/.test(message) ||
    (code === ConnectCode.Unknown && /premature close|socket|ECONN|stream|GOAWAY/i.test(message)) ||
    (code === ConnectCode.Internal && /stream closed|RST_STREAM|GOAWAY|http\/2/i.test(message));
  if (lost) {
    return new ServiceError(Code.UNAVAILABLE, `the connection was lost during ${method}: ${message}`, "", {}, { cause: error });
  }
  const detail = details.map(readDetail).find((found) => found !== undefined);
  return new ServiceError(code as number as Code, message, detail?.reason ?? "", detail?.metadata ?? {}, { cause: error });
}

/** String fields of temporal.api.errordetails.v1 that programs ask for, by message and field number. */
const DETAIL_FIELDS: { readonly [type: string]: { readonly [field: number]: string } } = {
  WorkflowExecutionAlreadyStartedFailure: { 1: "start_request_id", 2: "run_id" },
  NamespaceNotFoundFailure: { 1: "namespace" },
  NamespaceNotActiveFailure: { 1: "namespace", 2: "current_cluster", 3: "active_cluster" },
  NewerBuildExistsFailure: { 1: "default_build_id" },
  PermissionDeniedFailure: { 1: "reason" },
};

type Detail = ConnectError["details"][number];

/** Name and fields of an error's detail: the message's name without its "Failure". */
function readDetail(detail: Detail): { reason: string; metadata: { [key: string]: string } } | undefined {
  if (!("value" in detail) || !(detail.value instanceof Uint8Array)) return undefined;
  const { type, value } = detail as { type: string; value: Uint8Array };
  const name = /^temporal\.api\.errordetails\.v1\.(\w+)$/.exec(type)?.[1];
  if (name === undefined) return undefined;
  const fields = DETAIL_FIELDS[name] ?? {};
  const metadata: { [key: string]: string } = {};
  const reader = new BinaryReader(value);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const key = fields[number];
    if (key !== undefined && wireType === WireType.LengthDelimited) metadata[key] = reader.string();
    else reader.skip(wireType, number);
  }
  return { reason: name.replace(/Failure$/, ""), metadata };
}
