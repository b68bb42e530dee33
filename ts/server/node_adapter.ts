// Connect's handlers on node:http and node:http2: reads bodies within limits (request_body.ts) and
// writes responses. @connectrpc/connect-node is not used: it has no limit after decompression,
// throws at an invalid authority (in the server's event, which ends the process), and needs Node
// 22.
import { brotliCompress, gzip } from "node:zlib";
import { Code, ConnectError, type ConnectRouter, createConnectRouter } from "@connectrpc/connect";
import type { AnyHandler, AnyRequest, AnyResponse } from "./bounded_connections.ts";
import {
  type BodyBudget,
  type BodyForm,
  bodyForm,
  isKnownEncoding,
  readBody,
} from "./request_body.ts";
import { grpcMessage } from "./unknown_methods.ts";

type Route = ReturnType<typeof createConnectRouter>["handlers"][number];
type UniversalResponse = Awaited<ReturnType<Route>>;
type Compression = NonNullable<
  NonNullable<Parameters<typeof createConnectRouter>[0]>["acceptCompression"]
>[number];

export interface RoutesOptions {
  /** Maximum size of a message in bytes. */
  readonly maxBytes: number;
  /** Shared by all requests. */
  readonly budget: BodyBudget;
  /** Called when a response could not be created, which is a bug. */
  onError?(error: Error): void;
}

/** Time for a caller to receive the response to a request that is not read further. */
const LINGER_MS = 500;

/** For responses; requests are decoded before Connect sees them. */
function compression(name: string, compress: typeof gzip): Compression {
  return {
    name,
    compress: (bytes) =>
      new Promise((resolve, reject) =>
        compress(
          bytes,
          (error, packed) => error === null ? resolve(new Uint8Array(packed)) : reject(error),
        )
      ),
    decompress: () =>
      Promise.reject(new ConnectError(`unsupported encoding of a message: ${name}`, Code.Internal)),
  };
}

/**
 * Returns a handler for the methods that `routes` adds; its result is undefined for other requests.
 */
export function routesHandler(
  routes: (router: ConnectRouter) => void,
  options: RoutesOptions,
): (request: AnyRequest) => AnyHandler | undefined {
  const router = createConnectRouter({
    readMaxBytes: options.maxBytes,
    acceptCompression: [
      compression("gzip", gzip),
      compression("br", brotliCompress as typeof gzip),
    ],
  });
  routes(router);
  const byPath = new Map(router.handlers.map((route) => [route.requestPath, route]));
  return (request) => {
    const route = byPath.get((request.url ?? "").split("?", 1)[0]!);
    return route && ((request, response) => void answer(route, request, response, options));
  };
}

async function answer(
  route: Route,
  request: AnyRequest,
  response: AnyResponse,
  options: RoutesOptions,
): Promise<void> {
  const gone = new AbortController();
  let whole = false;
  request.once("end", () => whole = true);
  const share = options.budget.share();
  response.once("close", () => {
    gone.abort();
    share.release();
  });
  try {
    const form = bodyForm(request.headers);
    const known = form.encoding === undefined || isKnownEncoding(form.encoding);
    const made = await route({
      httpVersion: request.httpVersion,
      method: request.method ?? "",
      // The host is checked by the guard, and need not be valid in a URL.
      url: `http://localhost${route.requestPath}`,
      header: requestHeaders(request.headers, known ? form : undefined),
      body: known
        ? once(() => readBody(request, form, { maxBytes: options.maxBytes, take: share.take }))
        : nothing(),
      signal: gone.signal,
    });
    await write(made, request, response, () => whole || lingers(request, response));
  } catch (error) {
    // The peer has disconnected, or the response could not be created.
    if (!gone.signal.aborted) options.onError?.(error as Error);
    response.destroy();
  }
}

async function* once(read: () => Promise<Uint8Array>): AsyncGenerator<Uint8Array> {
  const body = await read();
  if (body.length > 0) yield body;
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

/** Removes headers that describe the body as received. */
function requestHeaders(headers: AnyRequest["headers"], form: BodyForm | undefined): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || name.startsWith(":")) continue;
    if (form !== undefined && (name === "content-length" || name === form.encodingHeader)) continue;
    for (const each of Array.isArray(value) ? value : [String(value)]) all.append(name, each);
  }
  return all;
}

const nodeHeaders = (headers: Headers | undefined): { [name: string]: string } =>
  Object.fromEntries(headers?.entries() ?? []);

async function write(
  made: UniversalResponse,
  request: AnyRequest,
  response: AnyResponse,
  ended: () => void,
): Promise<void> {
  // Node calls both kinds of responses alike, but their types differ.
  const out = response as Exclude<AnyResponse, { readonly stream: unknown }>;
  const parts = made.body?.[Symbol.asyncIterator]();
  try {
    // A handler can add headers until its first part.
    let part = await parts?.next();
    out.writeHead(made.status, nodeHeaders(made.header));
    for (; part !== undefined && part.done !== true; part = await parts!.next()) {
      await written(out, part.value);
    }
    if (made.trailer !== undefined) out.addTrailers(trailers(made.trailer, request));
    out.end(ended);
  } finally {
    await parts?.return?.();
  }
}

function written(
  response: Exclude<AnyResponse, { readonly stream: unknown }>,
  bytes: Uint8Array,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (response.destroyed) return reject(new Error("the caller closed the connection"));
    if (response.write(bytes)) return resolve();
    const drained = () => (response.off("close", closed), resolve());
    const closed =
      () => (response.off("drain", drained), reject(new Error("the caller closed the connection")));
    response.once("drain", drained).once("close", closed);
  });
}

/**
 * Connect percent-encodes all of `grpc-message` that a URL would not have. grpc-js, used by
 * Temporal's SDK, decodes only what gRPC encodes: its users would read "ID%3A order-1".
 */
function trailers(headers: Headers, request: AnyRequest): { [name: string]: string } {
  const all = nodeHeaders(headers);
  const message = all["grpc-message"];
  if (
    message === undefined || /^application\/grpc-web/i.test(request.headers["content-type"] ?? "")
  ) return all;
  return { ...all, "grpc-message": grpcMessage(decodeURIComponent(message)) };
}

/**
 * Handles a response sent before the request has arrived completely: closed at once, the caller
 * might not read it.
 */
function lingers(request: AnyRequest, response: AnyResponse): void {
  const stream = (response as { stream?: { close?(code: number): void } }).stream;
  const { socket } = request;
  const timer = setTimeout(
    () => stream?.close === undefined ? socket.destroy() : stream.close(0),
    LINGER_MS,
  );
  timer.unref();
  request.once("end", () => clearTimeout(timer));
}
