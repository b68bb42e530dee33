// Frames between a caller and the gateway: each is one binary message of a WebSocket. All calls
// share the socket, because browsers open at most six connections per host over HTTP/1.1, fewer
// than a worker's polls.
//
//   byte 0      kind
//   bytes 1-4   number of the call, chosen by the caller, unsigned, big-endian
//   the rest    by kind:
//     call      deadline in milliseconds (4 bytes, 0: none), length of the method's name (1 byte), name in ASCII, request
//     cancel    nothing
//     ask       nothing: a ping. The response is `here` with the same number
//     answer    response
//     refusal   gRPC status (1 byte), length of the text (4 bytes), JSON of message, reason and metadata, then the failure's bytes
//     hello     JSON of Hello; the number is 0. The gateway's first frame
//     here      nothing
//
// Requests, responses and failures are bytes of Temporal's messages and are not decoded here.

/** The subprotocol; its number changes with the frames. */
export const GATEWAY_PROTOCOL = "temporalex.gateway.v1";
/**
 * Precedes the token in the second subprotocol of a caller: the only header that a page can set on
 * a WebSocket.
 */
export const TOKEN_PREFIX = "temporalex.token.";
/** Path of the gateway's WebSockets. */
export const SOCKET_PATH = "/socket";

/** Close codes of the gateway, in addition to those of the WebSocket protocol. */
export const Close = {
  /** The token is missing or not that of this gateway process. */
  TOKEN: 4401,
  /** A frame cannot be read. */
  PROTOCOL: 4400,
} as const;

/** The gateway's first message. */
export interface Hello {
  /** The gateway's version. */
  readonly version: string;
  /** Maximum size of a request in bytes. */
  readonly maxRequestBytes: number;
}

/** An error on the wire. */
export interface RefusalFrame {
  readonly code: number;
  readonly message: string;
  readonly reason: string;
  readonly metadata: { readonly [key: string]: string };
  readonly failure: Uint8Array | undefined;
}

const Kind = { call: 1, cancel: 2, ask: 3, answer: 16, refusal: 17, hello: 18, here: 19 } as const;

export type CallerFrame =
  | {
    readonly kind: "call";
    readonly id: number;
    readonly timeoutMs: number;
    readonly method: string;
    readonly request: Uint8Array<ArrayBuffer>;
  }
  | { readonly kind: "cancel"; readonly id: number }
  | { readonly kind: "ask"; readonly id: number };
export type GatewayFrame =
  | { readonly kind: "answer"; readonly id: number; readonly response: Uint8Array<ArrayBuffer> }
  | { readonly kind: "refusal"; readonly id: number; readonly refusal: RefusalFrame }
  | { readonly kind: "hello"; readonly hello: Hello }
  | { readonly kind: "here"; readonly id: number };

/** A frame in an invalid form. */
export class FrameError extends Error {
  override name = "FrameError";
}

const HEAD = 5;
/** Maximum bytes of a call's frame in addition to its request. */
export const CALL_OVERHEAD = HEAD + 4 + 1 + 255;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

function frame(
  kind: number,
  id: number,
  bytes: number,
): { readonly frame: Uint8Array<ArrayBuffer>; readonly view: DataView } {
  const made = new Uint8Array(HEAD + bytes);
  const view = new DataView(made.buffer);
  view.setUint8(0, kind);
  view.setUint32(1, id);
  return { frame: made, view };
}

export function callFrame(
  id: number,
  method: string,
  timeoutMs: number,
  request: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const name = encoder.encode(method);
  const { frame: made, view } = frame(Kind.call, id, 4 + 1 + name.length + request.length);
  view.setUint32(HEAD, timeoutMs);
  view.setUint8(HEAD + 4, name.length);
  made.set(name, HEAD + 5);
  made.set(request, HEAD + 5 + name.length);
  return made;
}

export const cancelFrame = (id: number): Uint8Array<ArrayBuffer> => frame(Kind.cancel, id, 0).frame;
export const askFrame = (id: number): Uint8Array<ArrayBuffer> => frame(Kind.ask, id, 0).frame;
export const hereFrame = (id: number): Uint8Array<ArrayBuffer> => frame(Kind.here, id, 0).frame;

export function answerFrame(id: number, response: Uint8Array): Uint8Array<ArrayBuffer> {
  const { frame: made } = frame(Kind.answer, id, response.length);
  made.set(response, HEAD);
  return made;
}

export function refusalFrame(
  id: number,
  { code, failure, ...words }: RefusalFrame,
): Uint8Array<ArrayBuffer> {
  const text = encoder.encode(JSON.stringify(words));
  const { frame: made, view } = frame(
    Kind.refusal,
    id,
    1 + 4 + text.length + (failure?.length ?? 0),
  );
  view.setUint8(HEAD, code);
  view.setUint32(HEAD + 1, text.length);
  made.set(text, HEAD + 5);
  if (failure !== undefined) made.set(failure, HEAD + 5 + text.length);
  return made;
}

export function helloFrame(hello: Hello): Uint8Array<ArrayBuffer> {
  const text = encoder.encode(JSON.stringify(hello));
  const { frame: made } = frame(Kind.hello, 0, text.length);
  made.set(text, HEAD);
  return made;
}

function head(
  bytes: Uint8Array,
): { readonly kind: number; readonly id: number; readonly view: DataView } {
  if (bytes.length < HEAD) throw new FrameError("invalid frame: shorter than its header");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { kind: view.getUint8(0), id: view.getUint32(1), view };
}

function need(bytes: Uint8Array, length: number): void {
  if (bytes.length < length) {
    throw new FrameError("invalid frame: shorter than its declared length");
  }
}

/** Reads a frame of a caller. Throws a FrameError. */
export function readCallerFrame(bytes: Uint8Array<ArrayBuffer>): CallerFrame {
  const { kind, id, view } = head(bytes);
  switch (kind) {
    case Kind.call: {
      need(bytes, HEAD + 5);
      const start = HEAD + 5 + view.getUint8(HEAD + 4);
      need(bytes, start);
      const method = decodeText(bytes.subarray(HEAD + 5, start));
      return {
        kind: "call",
        id,
        timeoutMs: view.getUint32(HEAD),
        method,
        request: bytes.subarray(start),
      };
    }
    case Kind.cancel:
      return { kind: "cancel", id };
    case Kind.ask:
      return { kind: "ask", id };
  }
  throw new FrameError(`invalid frame from a caller: kind ${kind}`);
}

/** Reads a frame of the gateway. Throws a FrameError. */
export function readGatewayFrame(bytes: Uint8Array<ArrayBuffer>): GatewayFrame {
  const { kind, id, view } = head(bytes);
  switch (kind) {
    case Kind.answer:
      return { kind: "answer", id, response: bytes.subarray(HEAD) };
    case Kind.refusal: {
      need(bytes, HEAD + 5);
      const end = HEAD + 5 + view.getUint32(HEAD + 1);
      need(bytes, end);
      const words = parse<Pick<RefusalFrame, "message" | "reason" | "metadata">>(
        bytes.subarray(HEAD + 5, end),
      );
      const failure = end < bytes.length ? bytes.subarray(end) : undefined;
      return { kind: "refusal", id, refusal: { code: view.getUint8(HEAD), ...words, failure } };
    }
    case Kind.hello:
      return { kind: "hello", hello: parse<Hello>(bytes.subarray(HEAD)) };
    case Kind.here:
      return { kind: "here", id };
  }
  throw new FrameError(`invalid frame from a gateway: kind ${kind}`);
}

function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new FrameError("invalid frame: a string is not UTF-8");
  }
}

function parse<T>(bytes: Uint8Array): T {
  try {
    return JSON.parse(decodeText(bytes)) as T;
  } catch {
    throw new FrameError("invalid frame: a string is not JSON");
  }
}
