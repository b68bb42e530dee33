// Limits on the payloads of one request. A cluster rejects larger ones with an error that names no
// argument, after the transfer, so sizes are checked where the value is known. The defaults are
// those of a Temporal server.

interface Payload {
  readonly metadata: { readonly [key: string]: Uint8Array };
  readonly data: Uint8Array;
}

/** Payload sizes that cause a warning or an error. */
export interface PayloadLimits {
  /** Bytes of one set of payloads above which a warning is logged. */
  warnBytes: number;
  /** Bytes of one set of payloads above which an error is thrown. */
  errorBytes: number;
}

/** Defaults of a Temporal server: a warning above 256 KiB, an error above 2 MiB. */
export const DEFAULT_PAYLOAD_LIMITS: PayloadLimits = {
  warnBytes: 256 * 1024,
  errorBytes: 2 * 1024 * 1024,
};

/** A set of arguments, a result or details above the size limit. */
export class PayloadTooLargeError extends Error {
  override name = "PayloadTooLargeError";
  /** Size of the set, in bytes. */
  readonly bytes: number;
  /** Maximum size, in bytes. */
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

/** Returns the bytes that a set of payloads takes on the wire, without framing. */
export function payloadBytes(payloads: Iterable<Payload>): number {
  let bytes = 0;
  for (const payload of payloads) {
    bytes += payload.data.length;
    for (const key in payload.metadata) bytes += key.length + payload.metadata[key]!.length;
  }
  return bytes;
}

/**
 * Throws above the error limit, calls `warn` above the warning limit. `what` names the set in
 * messages.
 */
export function checkPayloads(
  what: string,
  payloads: Iterable<Payload>,
  limits: PayloadLimits,
  warn: (message: string, bytes: number) => void,
): void {
  const bytes = payloadBytes(payloads);
  if (bytes > limits.errorBytes) throw new PayloadTooLargeError(what, bytes, limits.errorBytes);
  if (bytes > limits.warnBytes) {
    warn(
      `${what} takes ${bytes} bytes; the service rejects more than ${limits.errorBytes} bytes`,
      bytes,
    );
  }
}
