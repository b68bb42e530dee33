// Limits on what one request may carry. A cluster refuses larger ones with an error that names no argument, after the bytes have
// travelled; so they are checked where the value is still at hand. The figures are the defaults of a Temporal server.

interface Payload {
  readonly metadata: { readonly [key: string]: Uint8Array };
  readonly data: Uint8Array;
}

/** Sizes at which payloads are warned of and refused. */
export interface PayloadLimits {
  /** Bytes of one set of payloads above which a warning is logged. */
  warnBytes: number;
  /** Bytes of one set of payloads that are refused. */
  errorBytes: number;
}

/** The limits of a Temporal server as it comes: a warning above 256 KiB, an error above 2 MiB. */
export const DEFAULT_PAYLOAD_LIMITS: PayloadLimits = { warnBytes: 256 * 1024, errorBytes: 2 * 1024 * 1024 };

/** A set of arguments, a result or details that no service would take. */
export class PayloadTooLargeError extends Error {
  override name = "PayloadTooLargeError";
  /** Its size. */
  readonly bytes: number;
  /** The size that is allowed. */
  readonly limit: number;

  constructor(what: string, bytes: number, limit: number) {
    super(
      `${what} takes ${bytes} bytes, more than the limit of ${limit} bytes; ` +
        "store the data elsewhere and pass a reference to it",
    );
    this.bytes = bytes;
    this.limit = limit;
  }
}

/** Bytes that a set of payloads takes on the wire, without the few bytes of framing. */
export function payloadBytes(payloads: Iterable<Payload>): number {
  let bytes = 0;
  for (const payload of payloads) {
    bytes += payload.data.length;
    for (const key in payload.metadata) bytes += key.length + payload.metadata[key]!.length;
  }
  return bytes;
}

/** Throws above the error limit; calls `warn` above the warning limit. `what` names the set for people. */
export function checkPayloads(
  what: string,
  payloads: Iterable<Payload>,
  limits: PayloadLimits,
  warn: (message: string, bytes: number) => void,
): void {
  const bytes = payloadBytes(payloads);
  if (bytes > limits.errorBytes) throw new PayloadTooLargeError(what, bytes, limits.errorBytes);
  if (bytes > limits.warnBytes) {
    warn(`${what} takes ${bytes} bytes; the service rejects more than ${limits.errorBytes} bytes`, bytes);
  }
}
