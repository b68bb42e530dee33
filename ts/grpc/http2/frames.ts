// Frames of HTTP/2 (RFC 9113): heads, types, flags, settings, and the prefix of a gRPC message.
export const FRAME = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goAway: 7,
  window: 8,
  continuation: 9,
} as const;
export const END_STREAM = 1, ACK = 1, END_HEADERS = 4, PADDED = 8, PRIORITY = 0x20;
export const SETTING = {
  tableSize: 1,
  enablePush: 2,
  maxStreams: 3,
  initialWindow: 4,
  maxFrame: 5,
} as const;
export const HEAD_BYTES = 9;
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** Bytes before a gRPC message: a flag and its length. */
export const PREFIX_BYTES = 5;

/** Codes of RST_STREAM and GOAWAY. */
export const Reset = { NO_ERROR: 0, REFUSED_STREAM: 7, CANCEL: 8 } as const;

/** The peer does not use HTTP/2, or violates its rules. */
export class WireError extends Error {
  override name = "WireError";
  readonly code = "ERR_HTTP2_ERROR";
}

export function uint32(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 | bytes[at + 3]!) >>> 0;
}

export const uint31 = (bytes: Uint8Array, at: number) => uint32(bytes, at) & 0x7fff_ffff;

/** Writes the head of a frame; returns its end. */
export function head(
  out: Uint8Array,
  at: number,
  length: number,
  type: number,
  flags: number,
  id: number,
): number {
  out[at++] = length >>> 16;
  out[at++] = length >>> 8;
  out[at++] = length;
  out[at++] = type;
  out[at++] = flags;
  out[at++] = id >>> 24;
  out[at++] = id >>> 16;
  out[at++] = id >>> 8;
  out[at++] = id;
  return at;
}

export function frame(type: number, flags: number, id: number, payload: Uint8Array): Uint8Array {
  const whole = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  whole.set(payload, head(whole, 0, payload.length, type, flags, id));
  return whole;
}

/** Writes the prefix of an uncompressed message. */
export function prefix(out: Uint8Array, at: number, length: number): void {
  out[at] = 0;
  out[at + 1] = length >>> 24;
  out[at + 2] = length >>> 16;
  out[at + 3] = length >>> 8;
  out[at + 4] = length;
}

export function unpadded(payload: Uint8Array, flags: number): Uint8Array {
  if ((flags & PADDED) === 0) return payload;
  const end = payload.length - (payload[0] ?? 0);
  if (end < 1) throw new WireError("the padding of a frame is longer than the frame");
  return payload.subarray(1, end);
}
