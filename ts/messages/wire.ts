// Reads and writes encoded protobuf messages by field (generated/fields.ts), without descriptors,
// which take 13 ms to build. A field is its tag (number and wire type), so a field with another
// wire type is unknown and skipped, as in protobuf. Values are decoded on request; bytes are views
// of the message.
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { Timestamp } from "./generated/fields.ts";

/** As in the library: invalid UTF-8 becomes U+FFFD, and a byte order mark is text. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
/** Shorter texts are read character by character, which is faster than the decoder. */
const SHORT = 40;

/**
 * Iterates over the fields of a message. `next` moves to the next field and returns whether there
 * is one; then compare `tag` and read the value in the matching form. Throws a RangeError for
 * invalid bytes.
 *
 * @example
 * for (const at = new Fields(bytes); at.next();) {
 *   if (at.tag === WorkflowExecution.runId) runId = at.text();
 * }
 */
export class Fields {
  readonly #bytes: Uint8Array;
  readonly #end: number;
  #at: number;
  /** Tag of the current field: number * 8 + wire type. */
  tag = 0;
  /** Offset of the field, including its tag. */
  start = 0;
  /** Offset of the value; for a length-delimited field, of its length. */
  valueAt = 0;
  /** Offset of the content, after the length. */
  contentAt = 0;

  constructor(bytes: Uint8Array, at = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  /** End offset of the field. */
  get end(): number {
    return this.#at;
  }

  /** Field number, for tables from descriptors. */
  get number(): number {
    return this.tag >>> 3;
  }

  /** Whether the field is length-delimited: text, bytes, message or packed list. */
  get hasLength(): boolean {
    return (this.tag & 7) === 2;
  }

  next(): boolean {
    const bytes = this.#bytes;
    let at = this.#at;
    if (at >= this.#end) return false;
    this.start = at;
    let tag = bytes[at]!;
    if (tag < 0x80) this.#at = ++at;
    else {
      this.tag = 0;
      tag = this.#varint32();
      at = this.#at;
    }
    this.tag = tag;
    if (tag < 8) this.#fail("the field number is 0");
    this.valueAt = this.contentAt = at;
    // Most fields have a length of one byte.
    if ((tag & 7) === 2 && bytes[at]! < 0x80) {
      this.contentAt = at + 1;
      this.#at = at + 1 + bytes[at]!;
    } else this.#pass(tag);
    if (this.#at > this.#end) this.#fail("the message ends inside the field");
    return true;
  }

  /** The caller knows the type of the message; the field and the offset are known here. */
  #fail(problem: string): never {
    const field = this.tag < 8 ? "" : `field ${this.tag >>> 3} `;
    throw new RangeError(
      `invalid protobuf: ${problem} (${field}at byte ${this.start} of ${this.#end})`,
    );
  }

  #pass(tag: number): void {
    switch (tag & 7) {
      case 0: {
        const last = this.#at + 9;
        while (this.#bytes[this.#at]! >= 0x80) {
          if (++this.#at > last) this.#fail("the varint has more than 10 bytes");
        }
        this.#at++;
        return;
      }
      case 1:
        this.#at += 8;
        return;
      case 2: {
        const length = this.#varint32();
        this.contentAt = this.#at;
        this.#at += length;
        return;
      }
      case 3:
        return this.#passGroup(tag >>> 3);
      case 5:
        this.#at += 4;
        return;
      default:
        this.#fail(`unsupported wire type ${tag & 7}`);
    }
  }

  /** Skips a group, a deprecated wire type. */
  #passGroup(number: number): void {
    while (this.#at < this.#end) {
      const tag = this.#varint32();
      if ((tag & 7) === 4) {
        if (tag >>> 3 === number) return;
        this.#fail(`the group ends with the number ${tag >>> 3}`);
      }
      this.#pass(tag);
    }
    this.#fail("the message ends inside the group");
  }

  /** Reads a tag or a length. */
  #varint32(): number {
    const bytes = this.#bytes;
    let byte = bytes[this.#at++]!;
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let shift = 7; shift < 35; shift += 7) {
      byte = bytes[this.#at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) {
        if (value > 0xffff_ffff) break;
        return value;
      }
    }
    this.#fail("the message ends inside a tag or length, or the number is too large");
  }

  /** Returns the content of a length-delimited field: a view, not a copy. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(this.contentAt, this.#at);
  }

  text(): string {
    const bytes = this.#bytes;
    const end = this.#at;
    const length = end - this.contentAt;
    if (length > SHORT) return utf8.decode(bytes.subarray(this.contentAt, end));
    const codes = new Array<number>(length);
    for (let i = 0; i < length; i++) {
      const byte = bytes[this.contentAt + i]!;
      if (byte > 0x7f) return utf8.decode(bytes.subarray(this.contentAt, end));
      codes[i] = byte;
    }
    return String.fromCharCode.apply(String, codes);
  }

  /** Returns an integer; exact up to 2 ** 53. */
  int(): number {
    const bytes = this.#bytes;
    let at = this.valueAt;
    let byte = bytes[at++]!;
    if (byte < 0x80) return byte;
    // In parts of 28 and 36 bits, so that negative numbers stay exact.
    let low = byte & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      byte = bytes[at++]!;
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return low;
    }
    let high = 0;
    for (let factor = 1; at < this.#at; factor *= 128) high += (bytes[at++]! & 0x7f) * factor;
    // Of a tenth byte only the lowest bit counts.
    high %= 2 ** 36;
    if (high >= 2 ** 35) high -= 2 ** 36;
    return high * 2 ** 28 + low;
  }

  bool(): boolean {
    return this.int() !== 0;
  }

  /** Returns the fields of an embedded message. */
  inner(): Fields {
    return new Fields(this.#bytes, this.contentAt, this.#at);
  }
}

/** Returns a text field; the last occurrence counts, as in protobuf; "" if absent. */
export function readTextField(message: Uint8Array, tag: number): string {
  let text = "";
  for (const at = new Fields(message); at.next();) if (at.tag === tag) text = at.text();
  return text;
}

/** Returns an integer field; 0 if absent. */
export function intOf(message: Uint8Array, tag: number): number {
  let value = 0;
  for (const at = new Fields(message); at.next();) if (at.tag === tag) value = at.int();
  return value;
}

/** Returns the last occurrence of a bytes or message field; undefined if absent. */
export function readBytes(message: Uint8Array, tag: number): Uint8Array | undefined {
  let bytes: Uint8Array | undefined;
  for (const at = new Fields(message); at.next();) if (at.tag === tag) bytes = at.bytes();
  return bytes;
}

/** Returns the first occurrence, without reading further. */
export function firstOf(message: Uint8Array, tag: number): Uint8Array | undefined {
  for (const at = new Fields(message); at.next();) if (at.tag === tag) return at.bytes();
  return undefined;
}

/** Writes a message field by field, including default values. */
export class Message {
  readonly #writer = new BinaryWriter();

  text(tag: number, value: string): this {
    this.#writer.uint32(tag).string(value);
    return this;
  }

  bytes(tag: number, value: Uint8Array): this {
    this.#writer.uint32(tag).bytes(value);
    return this;
  }

  int(tag: number, value: number): this {
    if (value >= 0 && value <= 0xffff_ffff) this.#writer.uint32(tag).uint32(value);
    else this.#writer.uint32(tag).int64(value);
    return this;
  }

  bool(tag: number, value: boolean): this {
    this.#writer.uint32(tag).bool(value);
    return this;
  }

  double(tag: number, value: number): this {
    this.#writer.uint32(tag).double(value);
    return this;
  }

  /** Writes an embedded message. */
  message(tag: number, write: (message: this) => void): this {
    this.#writer.uint32(tag).fork();
    write(this);
    this.#writer.join();
    return this;
  }

  /** Appends encoded fields. */
  raw(fields: Uint8Array): this {
    this.#writer.raw(fields);
    return this;
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#writer.finish();
  }
}

/** Encodes a length. */
export function lengthPrefix(length: number): Uint8Array {
  let size = 1;
  for (let rest = length; rest > 0x7f; rest = Math.floor(rest / 128)) size++;
  const prefix = new Uint8Array(size);
  let rest = length;
  for (let i = 0; i < size - 1; i++, rest = Math.floor(rest / 128)) {
    prefix[i] = (rest & 0x7f) | 0x80;
  }
  prefix[size - 1] = rest;
  return prefix;
}

/** Encodes a tag. */
export function fieldHead(tag: number): Uint8Array {
  return lengthPrefix(tag);
}

/** The tag of a length-delimited field by its number, from a descriptor or the core. */
export const tagWithLength = (number: number): number => number * 8 + 2;

/**
 * Concatenates parts; concatenated messages are one message. A single non-empty part is not copied.
 */
export function concat(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0;
  for (const part of parts) length += part.length;
  for (const part of parts) if (part.length === length) return part;
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Milliseconds of an encoded Timestamp or Duration, which have the same fields. */
export function timeMs(encoded: Uint8Array): number {
  let ms = 0;
  for (const at = new Fields(encoded); at.next();) {
    if (at.tag === Timestamp.seconds) ms += at.int() * 1000;
    else if (at.tag === Timestamp.nanos) ms += at.int() / 1e6;
  }
  return ms;
}
