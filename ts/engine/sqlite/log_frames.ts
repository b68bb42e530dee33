// The frames of SQLite's write-ahead log, validated like SQLite's recovery: each has the salts of
// the log's header, and a checksum over everything before it
// (https://www.sqlite.org/fileformat2.html#walformat). So a hole is found wherever it is.

export const LOG_HEADER_BYTES = 32;
/** Size of the header before the page of each frame. */
const FRAME_HEADER_BYTES = 24;
/** Magic number of a header; the last bit is the byte order of checksum words. */
const MAGIC = 0x377f0682;
/** Number of frames per read. */
const FRAMES_AT_ONCE = 64;

/** Reads bytes of the log at an offset; returns how many it read. */
export type ReadLog = (into: Uint8Array, offset: number) => number;

/** The end of the valid part of a log, and the checksum up to it. */
export interface LogEnd {
  readonly header: Uint8Array;
  readonly offset: number;
  readonly sum: readonly [number, number];
  /** The last valid frame that ends a transaction; undefined if the log has no transaction. */
  readonly lastFrame: Uint8Array | undefined;
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

function addWords(
  view: DataView,
  from: number,
  to: number,
  littleEndian: boolean,
  sum: [number, number],
): void {
  let [a, b] = sum;
  for (let at = from; at < to; at += 8) {
    a = (a + view.getUint32(at, littleEndian) + b) | 0;
    b = (b + view.getUint32(at + 4, littleEndian) + a) | 0;
  }
  sum[0] = a;
  sum[1] = b;
}

/** The beginning of a log with this header; undefined for an invalid header. */
export function beginningOf(header: Uint8Array): LogEnd | undefined {
  const view = viewOf(header);
  const magic = view.getUint32(0);
  if ((magic & ~1) !== MAGIC) return undefined;
  const sum: [number, number] = [0, 0];
  addWords(view, 0, 24, (magic & 1) === 0, sum);
  if (sum[0] !== view.getInt32(24) || sum[1] !== view.getInt32(28)) return undefined;
  return { header, offset: LOG_HEADER_BYTES, sum, lastFrame: undefined };
}

/** Follows the log from a valid position over every complete transaction. */
export function followLog(read: ReadLog, from: LogEnd, pageBytes: number): LogEnd {
  const frameBytes = pageBytes + FRAME_HEADER_BYTES;
  const header = viewOf(from.header);
  const littleEndian = (header.getUint32(0) & 1) === 0;
  const salts = [header.getUint32(16), header.getUint32(20)];
  const sum: [number, number] = [from.sum[0], from.sum[1]];
  // Most commits have few pages.
  let chunk = new Uint8Array(8 * frameBytes);
  let end = from;
  for (let offset = from.offset;;) {
    const frames = Math.floor(read(chunk, offset) / frameBytes);
    const view = viewOf(chunk);
    for (let i = 0; i < frames; i++) {
      const at = i * frameBytes;
      if (view.getUint32(at + 8) !== salts[0] || view.getUint32(at + 12) !== salts[1]) return end;
      addWords(view, at, at + 8, littleEndian, sum);
      addWords(view, at + FRAME_HEADER_BYTES, at + frameBytes, littleEndian, sum);
      if (sum[0] !== view.getInt32(at + 16) || sum[1] !== view.getInt32(at + 20)) return end;
      offset += frameBytes;
      // The size of the database in pages in the last frame of a transaction, 0 in its other
      // frames.
      if (view.getUint32(at + 4) !== 0) {
        end = {
          header: from.header,
          offset,
          sum: [sum[0], sum[1]],
          lastFrame: chunk.slice(at, at + frameBytes),
        };
      }
    }
    if (frames * frameBytes < chunk.length) return end;
    if (chunk.length < FRAMES_AT_ONCE * frameBytes) {
      chunk = new Uint8Array(FRAMES_AT_ONCE * frameBytes);
    }
  }
}

/** Number of frames in the valid part. */
export const framesUntil = ({ offset }: Pick<LogEnd, "offset">, pageBytes: number): number =>
  Math.floor((offset - LOG_HEADER_BYTES) / (pageBytes + FRAME_HEADER_BYTES));

/** Size of a log with that many frames, in bytes. */
export const logBytes = (frames: number, pageBytes: number): number =>
  LOG_HEADER_BYTES + frames * (pageBytes + FRAME_HEADER_BYTES);
