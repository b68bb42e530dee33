// A RawService over gRPC: a Temporal cluster, or anything that speaks its protocol. Requests and responses pass through as bytes; only
// their outermost fields are looked at, because the transport wants a message type: Empty keeps every field that it does not know.
// Runs in Node and Deno (HTTP/2); browsers need a gateway.
import { connect } from "node:net";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code as ConnectCode, ConnectError, type Transport } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { type CallOptions, Code, type MethodName, type RawService, ServiceError } from "../service/raw.ts";
import { VERSION } from "../service/version.ts";
import { type RawDetail, readDetail } from "./error_details.ts";
import { rawMethod } from "./raw_methods.ts";
import { EmptySchema } from "./well_known.ts";

/** PEM texts. All absent: the system's certificates. */
export interface TlsOptions {
  /** Certificates of the authorities to trust. */
  serverRootCaCertificate?: string;
  /** The client's own certificate, where the server asks for one (mTLS). */
  clientCertificate?: string;
  /** The key of the client's certificate. */
  clientKey?: string;
  /** Name to expect in the server's certificate instead of the address's. */
  serverName?: string;
  /** Take any certificate of the server. For tests: whoever stands between reads everything. */
  disableHostVerification?: boolean;
}

/** Where a service is, and who asks. */
export interface GrpcOptions {
  /** `host:port`, or `unix:` and the path of a socket. */
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
    const socket = address.startsWith("unix:") ? address.slice("unix:".length) : undefined;
    const tls = options.tls ?? (apiKey !== undefined && socket === undefined);
    const baseUrl = `${tls === false ? "http" : "https"}://${socket === undefined ? address : "localhost"}`;
    if (socket === undefined && (!URL.canParse(baseUrl) || !/^[^/]+:\d+$/.test(address))) {
      throw new TypeError(`"${address}" is not an address; write "host:port", without a scheme, or "unix:/path/of/a/socket"`);
    }
    if (socket !== undefined && tls !== false) throw new TypeError(`"${address}" is a socket of this machine; it takes no TLS`);
    this.#options = options;
    this.#sessions = new Http2SessionManager(
      baseUrl,
      { pingIntervalMs: 30_000, pingTimeoutMs: 15_000, pingIdleConnection: false },
      socket !== undefined ? { createConnection: () => connect(socket) } : typeof tls === "object" ? tlsOptions(tls) : undefined,
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
        rawMethod(method),
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
    const headers = new Headers({ "client-name": "temporalex-ts", "client-version": VERSION, ...this.#options.metadata });
    const { apiKey } = this.#options;
    if (apiKey !== undefined) headers.set("authorization", `Bearer ${typeof apiKey === "string" ? apiKey : await apiKey()}`);
    return headers;
  }
}

function tlsOptions(tls: TlsOptions): { [name: string]: unknown } {
  if ((tls.clientCertificate === undefined) !== (tls.clientKey === undefined)) {
    throw new TypeError("a client certificate and its key belong together; one of them is missing");
  }
  return {
    ...(tls.serverRootCaCertificate === undefined ? {} : { ca: tls.serverRootCaCertificate }),
    ...(tls.clientCertificate === undefined ? {} : { cert: tls.clientCertificate, key: tls.clientKey }),
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
    ...(tls.disableHostVerification === true ? { rejectUnauthorized: false } : {}),
  };
}

/** True for an error of a socket or of an HTTP/2 stream (ECONNRESET, ENOENT, ERR_HTTP2_...), which Connect hands on in many dresses. */
function isOfNode(error: unknown): boolean {
  for (let e = error, depth = 0; e instanceof Error && depth < 8; e = e.cause, depth++) {
    const { code } = e as { code?: unknown };
    if (typeof code === "string" && /^(?:E[A-Z]+|ERR_(?:STREAM|HTTP2)_\w+)$/.test(code)) return true;
  }
  return false;
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
  const lost = code === ConnectCode.Canceled || isOfNode(error) || /^(?:read|write|connect) E[A-Z]+/.test(message) ||
    /^protocol error: (incomplete|missing)/.test(message) ||
    (code === ConnectCode.Unknown && /premature close|socket|ECONN|stream|GOAWAY/i.test(message)) ||
    (code === ConnectCode.Internal && /stream closed|RST_STREAM|GOAWAY|http\/2/i.test(message));
  if (lost) {
    return new ServiceError(Code.UNAVAILABLE, `the connection was lost during ${method}: ${message}`, "", {}, { cause: error });
  }
  const detail = details.map((each) =>
    "value" in each && each.value instanceof Uint8Array ? readDetail(each as RawDetail) : undefined
  )
    .find((found) => found !== undefined);
  const operations = detail?.operations?.map(({ code, message, detail }) =>
    code === 0 ? undefined : new ServiceError(code as Code, message, detail?.reason ?? "", detail?.metadata ?? {})
  );
  const options = { cause: error, failure: detail?.failure, operations };
  return new ServiceError(code as number as Code, message, detail?.reason ?? "", detail?.metadata ?? {}, options);
}
