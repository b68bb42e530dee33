// Writes Protobuf into one growing buffer. A nested message is written in place; when its length is
// known, the message is moved to make space for it.

const utf8 = new TextEncoder();
/** For shorter texts, writing each character is faster than TextEncoder. */
const SHORT = 64;

export class WireBuffer {
  #bytes = new Uint8Array(16 * 1024);
  #at = 0;

  /** Number of bytes written. */
  get length(): number {
    return this.#at;
  }

  /** Returns a copy of the bytes from `start` on. */
  slice(start = 0): Uint8Array {
    return this.#bytes.slice(start, this.#at);
  }

  #room(more: number): void {
    const needed = this.#at + more;
    if (needed <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    grown.set(this.#bytes.subarray(0, this.#at));
    this.#bytes = grown;
  }

  /** Writes an integer from 0 to 2 ** 32 - 1: a tag, a length. */
  varint32(value: number): void {
    this.#room(5);
    for (; value > 0x7f; value >>>= 7) this.#bytes[this.#at++] = (value & 0x7f) | 0x80;
    this.#bytes[this.#at++] = value;
  }

  /** Writes an integer; negative ones as 64 bits. */
  varint(value: number | bigint): void {
    if (value >= 0 && value <= 0x7fff_ffff) return this.varint32(Number(value));
    this.#room(10);
    let rest = BigInt.asUintN(64, BigInt(value));
    for (; rest > 0x7fn; rest >>= 7n) this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80;
    this.#bytes[this.#at++] = Number(rest);
  }

  double(value: number): void {
    this.#room(8);
    new DataView(this.#bytes.buffer).setFloat64(this.#at, value, true);
    this.#at += 8;
  }

  float(value: number): void {
    this.#room(4);
    new DataView(this.#bytes.buffer).setFloat32(this.#at, value, true);
    this.#at += 4;
  }

  /** Writes bytes with their length. */
  bytes(value: Uint8Array): void {
    this.varint32(value.length);
    this.#room(value.length);
    this.#bytes.set(value, this.#at);
    this.#at += value.length;
  }

  /** Writes a text with its length. */
  text(value: string): void {
    const { length } = value;
    if (length > SHORT) return this.bytes(utf8.encode(value));
    this.#room(length + 1);
    const bytes = this.#bytes;
    const start = this.#at;
    for (let i = 0; i < length; i++) {
      const code = value.charCodeAt(i);
      if (code > 0x7f) return this.bytes(utf8.encode(value));
      bytes[start + 1 + i] = code;
    }
    bytes[start] = length;
    this.#at = start + 1 + length;
  }

  /** Begins a message with a length; pass the result to `end`. */
  begin(): number {
    this.#room(1);
    return ++this.#at;
  }

  end(start: number): void {
    const length = this.#at - start;
    if (length < 0x80) {
      this.#bytes[start - 1] = length;
      return;
    }
    const more = length < 0x4000 ? 1 : length < 0x20_0000 ? 2 : length < 0x1000_0000 ? 3 : 4;
    this.#room(more);
    this.#bytes.copyWithin(start + more, start, this.#at);
    this.#at = start - 1;
    this.varint32(length);
    this.#at += length;
  }
}
