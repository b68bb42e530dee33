// Reads the message of a request within limits: received bytes, decompressed bytes, and JSON
// nesting. This comes before any library, so the limits are the same for gRPC, gRPC-web and
// Connect, in protobuf and JSON: 100 compressed bytes can hold gigabytes. Each method takes one
// message, so it is read whole.
import { concat } from "../messages/wire.ts";
import { createBrotliDecompress, createGunzip } from "node:zlib";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AnyRequest } from "./bounded_connections.ts";

/** Form of the message in the body, by its headers. */
export interface BodyForm {
  /** Five bytes precede the message: flags and length. */
  readonly enveloped: boolean;
  readonly json: boolean;
  readonly encodingHeader: string;
  /** Undefined: not encoded. */
  readonly encoding: string | undefined;
}

export function bodyForm(headers: AnyRequest["headers"]): BodyForm {
  const type = headers["content-type"] ?? "";
  const grpc = /^application\/grpc/i.test(type);
  const enveloped = grpc || /^application\/connect\+/i.test(type);
  const encodingHeader = grpc
    ? "grpc-encoding"
    : enveloped
    ? "connect-content-encoding"
    : "content-encoding";
  const encoding = String(headers[encodingHeader] ?? "").toLowerCase();
  return {
    enveloped,
    json: /json/i.test(type),
    encodingHeader,
    encoding: /^(?:|identity)$/.test(encoding) ? undefined : encoding,
  };
}

/** Supported encodings. Others are rejected by name without reading the body. */
const DECODERS: {
  readonly [encoding: string]: () => NodeJS.ReadWriteStream & { destroy(): void };
} = {
  gzip: () => createGunzip(),
  br: () => createBrotliDecompress(),
};

export const isKnownEncoding = (encoding: string): boolean => Object.hasOwn(DECODERS, encoding);

/** Smaller requests are not counted, so they pass when large ones have used up the budget. */
const UNCOUNTED = 64 * 1024;

/** Bytes that all requests of a server may occupy until their responses. */
export class BodyBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  /**
   * Returns the share of one request. `take` throws RESOURCE_EXHAUSTED if the budget is used up;
   * `release` returns all taken bytes.
   */
  share(): { take(bytes: number): void; release(): void } {
    let free = UNCOUNTED, taken = 0, over = false;
    return {
      take: (bytes) => {
        const counted = Math.max(0, bytes - free);
        free = Math.max(0, free - bytes);
        if (counted > this.#left) {
          throw new ConnectError("too many large requests; retry later", Code.ResourceExhausted);
        }
        // A request can end while its body is decoded.
        if (over) return;
        this.#left -= counted;
        taken += counted;
      },
      release: () => {
        this.#left += taken;
        [taken, over] = [0, true];
      },
    };
  }
}

export interface BodyLimits {
  /** Maximum size of the message, as received and decoded. */
  readonly maxBytes: number;
  take(bytes: number): void;
}

const tooLarge = (maxBytes: number, what = "the request") =>
  new ConnectError(`${what} exceeds the limit of ${maxBytes} bytes`, Code.ResourceExhausted);

/**
 * Returns the body with its message decoded, in the same envelope. Rejects with a ConnectError and
 * stops reading: RESOURCE_EXHAUSTED for a size above the limit, INVALID_ARGUMENT for data that
 * cannot be decoded.
 */
export async function readBody(
  request: AnyRequest,
  form: BodyForm,
  limits: BodyLimits,
): Promise<Uint8Array> {
  const body = await collect(request, form, limits);
  const message = form.enveloped ? body.subarray(Math.min(ENVELOPE, body.length)) : body;
  // One bit of an envelope is set if this message is encoded.
  const encoded = form.encoding !== undefined &&
    (!form.enveloped || (body[0]! & COMPRESSED) !== 0) && message.length > 0;
  const decoded = encoded ? await decode(message, form.encoding!, limits) : message;
  if (form.json) checkJson(decoded);
  return form.enveloped && encoded
    ? inEnvelope(body[0]! & ~COMPRESSED, decoded)
    : form.enveloped
    ? body
    : decoded;
}

const ENVELOPE = 5;
const COMPRESSED = 1;

function inEnvelope(flags: number, message: Uint8Array): Uint8Array {
  const body = new Uint8Array(ENVELOPE + message.length);
  body[0] = flags;
  new DataView(body.buffer).setUint32(1, message.length);
  body.set(message, ENVELOPE);
  return body;
}

/** Collects received bytes within the limits. */
function collect(
  request: AnyRequest,
  { enveloped }: BodyForm,
  { maxBytes, take }: BodyLimits,
): Promise<Uint8Array> {
  const most = maxBytes + (enveloped ? ENVELOPE : 0);
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let size = 0;
    let opened = !enveloped;
    const end = (error: Error | undefined) => {
      request.off("data", onData).off("end", onEnd).off("error", onGone).off("close", onGone);
      // The caller may still be sending: discarded until its time is over (bounded_connections.ts).
      request.on("error", () => {}).resume();
      if (error === undefined) resolve(concat(parts));
      else reject(error);
    };
    const onData = (part: Uint8Array) => {
      size += part.length;
      parts.push(part);
      if (size > most) return end(tooLarge(maxBytes));
      // The envelope contains the size of its message.
      if (!opened && size >= ENVELOPE) {
        opened = true;
        const head = concat(parts);
        if (new DataView(head.buffer, head.byteOffset).getUint32(1) > maxBytes) {
          return end(tooLarge(maxBytes));
        }
      }
      try {
        take(part.length);
      } catch (error) {
        end(error as Error);
      }
    };
    const onEnd = () => end(undefined);
    const onGone = () => end(new ConnectError("the request body is incomplete", Code.Canceled));
    const announced = Number(request.headers["content-length"] ?? 0);
    if (announced > most) return end(tooLarge(maxBytes));
    request.on("data", onData).on("end", onEnd).on("error", onGone).on("close", onGone);
  });
}

/** Decodes in parts and stops at the limit. */
function decode(
  bytes: Uint8Array,
  encoding: string,
  { maxBytes, take }: BodyLimits,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const decoder = DECODERS[encoding]!();
    const parts: Uint8Array[] = [];
    let size = 0;
    const fail = (error: Error) => {
      decoder.removeAllListeners("data");
      decoder.destroy();
      reject(error);
    };
    decoder.on("data", (part: Uint8Array) => {
      size += part.length;
      if (size > maxBytes) return fail(tooLarge(maxBytes, "the request, decoded,"));
      parts.push(part);
      try {
        take(part.length);
      } catch (error) {
        fail(error as Error);
      }
    });
    decoder.on(
      "error",
      (error) =>
        reject(
          new ConnectError(
            `the request is not valid ${encoding}: ${error.message}`,
            Code.InvalidArgument,
          ),
        ),
    );
    decoder.on("end", () => resolve(concat(parts)));
    decoder.end(bytes);
  });
}

/** Maximum nesting, as for protobuf messages. */
const JSON_DEPTH = 100;
/** Maximum number of values: each becomes an object, whatever its size in the text. */
const JSON_VALUES = 500_000;
const [QUOTE, BACKSLASH, COMMA, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [...'"\\,[]{}'].map((
  letter,
) => letter.charCodeAt(0));

/**
 * Throws a ConnectError for JSON that would overflow the parser's stack, or needs much more memory
 * than its text.
 */
export function checkJson(text: Uint8Array): void {
  let depth = 0, values = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case QUOTE:
        at = endOfString(text, at);
        break;
      case OPEN_LIST:
      case OPEN:
        values++;
        if (++depth > JSON_DEPTH) {
          throw new ConnectError(
            `the JSON is nested more than ${JSON_DEPTH} levels deep`,
            Code.InvalidArgument,
          );
        }
        break;
      case CLOSE_LIST:
      case CLOSE:
        depth--;
        break;
      case COMMA:
        values++;
        break;
    }
  }
  if (values > JSON_VALUES) {
    throw new ConnectError(`the JSON has more than ${JSON_VALUES} values`, Code.ResourceExhausted);
  }
}

/** Returns the end of the string that begins here. */
function endOfString(text: Uint8Array, begin: number): number {
  for (let from = begin + 1;;) {
    const at = text.indexOf(QUOTE!, from);
    if (at < 0) return text.length;
    let escapes = 0;
    while (text[at - 1 - escapes] === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return at;
    from = at + 1;
  }
}
