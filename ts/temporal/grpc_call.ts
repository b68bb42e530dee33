// One gRPC call on a connection: a message out, a message in, as bytes that nobody looks into. It ends in exactly one way, and whatever
// ends it early (deadline, caller, lost connection) frees its stream.
import type { ClientHttp2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { clearTimeout, setTimeout } from "node:timers";
import { Code, ServiceError } from "../service/raw.ts";
import { httpRefusal, refusal, type Trailers } from "./grpc_status.ts";
import type { Link, LinkError } from "./http2_link.ts";

/** The server has not touched the call: it may be sent again at once, on another connection. */
export class NotProcessed extends ServiceError {
  override name = "ServiceError";
}

export interface UnaryCall {
  /** For messages. */
  readonly method: string;
  readonly address: string;
  readonly headers: OutgoingHttpHeaders;
  readonly request: Uint8Array;
  readonly timeoutMs: number;
  /** The caller's own words for `timeoutMs`, which is what is left of it. */
  readonly wholeTimeoutMs: number;
  readonly signal: AbortSignal | undefined;
  /** Larger answers are refused. */
  readonly maxBytes: number;
}

/** Error codes of HTTP/2 (RFC 9113, section 7). */
const REFUSED_STREAM = 7;
const CANCEL = 8;
const PREFIX_BYTES = 5;
/** Larger requests are written behind their prefix instead of being copied. */
const COPY_BYTES = 64 * 1024;

/** Sends and waits. The answer is a buffer of its own. Rejects with a ServiceError. */
export function unary(link: Link, call: UnaryCall): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const { method, signal } = call;
    let over = false;
    let headers: IncomingHttpHeaders | undefined;
    let trailers: Trailers | undefined;
    let chunks: Uint8Array[] = [];
    let bytes = 0;

    const settle = (): boolean => {
      if (over) return false;
      over = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      link.release(onLost);
      return true;
    };
    const fail = (error: ServiceError) => {
      if (!settle()) return;
      chunks = [];
      reject(error);
      if (!stream.destroyed) stream.close(CANCEL);
    };
    const onLost = (reason: LinkError) => {
      const message = `the connection to ${call.address} was lost during ${method}: ${reason.message}`;
      fail(new ServiceError(Code.UNAVAILABLE, message, "", {}, { cause: reason }));
    };
    const onAbort = () => fail(new ServiceError(Code.CANCELLED, `${method} was given up by its caller`));
    const onDeadline = () => {
      fail(new ServiceError(Code.DEADLINE_EXCEEDED, `${method} had no answer within ${call.wholeTimeoutMs} ms`));
      if (headers === undefined) link.probe();
    };
    /** Everything has come. */
    const complete = (status: Trailers) => {
      if (over) return;
      const refused = refusal(method, status);
      if (refused !== undefined) return fail(refused);
      const answer = message(chunks, bytes);
      if (typeof answer === "string") return fail(new ServiceError(Code.INTERNAL, `the answer to ${method} ${answer}`));
      settle();
      resolve(answer);
    };

    let stream: ClientHttp2Stream;
    try {
      stream = link.request(call.headers, onLost);
    } catch (error) {
      reject(
        new NotProcessed(Code.UNAVAILABLE, `${method} could not be sent: ${(error as Error).message}`, "", {}, { cause: error }),
      );
      return;
    }
    const timer = setTimeout(onDeadline, call.timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });

    stream.on("response", (received: IncomingHttpHeaders) => {
      link.heard();
      headers = received;
      if (received["grpc-status"] !== undefined) trailers = received;
      else if (Number(received[":status"]) !== 200 || !/^application\/grpc\b/.test(received["content-type"] ?? "")) {
        fail(httpRefusal(method, Number(received[":status"]), received["content-type"] ?? "", call.address));
      }
    });
    stream.on("data", (chunk: Uint8Array) => {
      link.heard();
      if (over) return;
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > call.maxBytes) {
        fail(new ServiceError(Code.RESOURCE_EXHAUSTED, `the answer to ${method} is larger than ${call.maxBytes} bytes`));
      }
    });
    stream.on("trailers", (received: IncomingHttpHeaders) => {
      link.heard();
      trailers = received;
      if (stream.readableEnded) complete(received);
    });
    stream.on("end", () => {
      if (trailers !== undefined) complete(trailers);
    });
    let problem: Error | undefined;
    stream.on("error", (error: Error) => problem = error);
    stream.on("close", () => {
      if (over) return;
      if (trailers?.["grpc-status"] !== undefined) return complete(trailers);
      // The stream came too late for a connection that is being closed.
      if (stream.rstCode === REFUSED_STREAM && headers === undefined) {
        return fail(new NotProcessed(Code.UNAVAILABLE, `${call.address} takes no calls at the moment (${method} was refused)`));
      }
      const why = problem?.message.trim() ??
        (stream.rstCode === 0 ? "the answer ended early" : `reset with code ${stream.rstCode}`);
      const lost = `the connection to ${call.address} was lost during ${method}: ${why}`;
      fail(new ServiceError(Code.UNAVAILABLE, lost, "", {}, { cause: problem }));
    });

    const { request } = call;
    const prefix = Buffer.allocUnsafe(PREFIX_BYTES + (request.length > COPY_BYTES ? 0 : request.length));
    prefix[0] = 0;
    prefix.writeUInt32BE(request.length, 1);
    if (request.length > COPY_BYTES) {
      stream.write(prefix);
      stream.end(request);
    } else {
      prefix.set(request, PREFIX_BYTES);
      stream.end(prefix);
    }
  });
}

/** The one message of an answer, in a buffer of its own (chunks are views of what the connection reads into); or what is wrong. */
function message(chunks: readonly Uint8Array[], bytes: number): Uint8Array | string {
  if (bytes < PREFIX_BYTES) return "holds no message";
  const whole = new Uint8Array(bytes - PREFIX_BYTES);
  const prefix = new Uint8Array(PREFIX_BYTES);
  let at = 0;
  for (const chunk of chunks) {
    const ofPrefix = Math.max(0, Math.min(PREFIX_BYTES - at, chunk.length));
    if (ofPrefix > 0) prefix.set(chunk.subarray(0, ofPrefix), at);
    if (chunk.length > ofPrefix) whole.set(ofPrefix === 0 ? chunk : chunk.subarray(ofPrefix), at + ofPrefix - PREFIX_BYTES);
    at += chunk.length;
  }
  if (prefix[0] !== 0) return "is compressed, which was not asked for";
  const length = new DataView(prefix.buffer).getUint32(1);
  if (length !== whole.length) return `has ${whole.length} bytes instead of ${length}`;
  return whole;
}
