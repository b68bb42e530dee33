// Encoded protobuf messages, read and written by the names of their fields (generated/fields.ts) and without descriptors, which take 13 ms
// to build and are not there when a process is young. A field is its tag (number and wire type in one), so what has another type than the
// field is an unknown field and passed over, as protobuf says. Nothing is decoded that is not asked for: bytes are views of the message.
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { Timestamp } from "./generated/fields.ts";

/** As the library decodes: what is no UTF-8 becomes U+FFFD, and a byte order mark is text. */
const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
/** Below it, reading character by character is faster than the decoder. */
const SHORT = 40;

/**
 * Goes over the fields of a message. `next` moves to the field after this one and answers whether there is one; then `tag` is compared with
 * the fields that are wanted, and the value is read in the form that fits. Throws a RangeError for bytes that are no message.
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
  /** Of this field: its number * 8 + wire type. */
  tag = 0;
  /** Where the field begins, with its tag. */
  start = 0;
  /** Where its value begins; of one with a length, the length. */
  valueAt = 0;
  /** Where the content begins, behind the length. */
  contentAt = 0;

  constructor(bytes: Uint8Array, at = 0, end: number = bytes.length) {
    this.#bytes = bytes;
    this.#at = at;
    this.#end = end;
  }

  /** Where the field ends. */
  get end(): number {
    return this.#at;
  }

  /** Its number, for tables that are made from descriptors. */
  get number(): number {
    return this.tag >>> 3;
  }

  /** It is a text, bytes, a message, or a packed list: something with a length. */
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
      tag = this.#varint32();
      at = this.#at;
    }
    if (tag < 8) throw new RangeError("invalid protobuf: a field has number 0");
    this.tag = tag;
    this.valueAt = this.contentAt = at;
    // Nearly all fields are like this: with a length of one byte.
    if ((tag & 7) === 2 && bytes[at]! < 0x80) {
      this.contentAt = at + 1;
      this.#at = at + 1 + bytes[at]!;
    } else this.#pass(tag);
    if (this.#at > this.#end) throw new RangeError("invalid protobuf: the message ends inside a field");
    return true;
  }

  #pass(tag: number): void {
    switch (tag & 7) {
      case 0: {
        const last = this.#at + 9;
        while (this.#bytes[this.#at]! >= 0x80) {
          if (++this.#at > last) throw new RangeError("invalid protobuf: a varint is too long");
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
        throw new RangeError(`invalid protobuf: unsupported wire type ${tag & 7}`);
    }
  }

  /** Groups are long gone from protobuf; what has one is passed over. */
  #passGroup(number: number): void {
    while (this.#at < this.#end) {
      const tag = this.#varint32();
      if ((tag & 7) === 4) {
        if (tag >>> 3 === number) return;
        throw new RangeError("invalid protobuf: end of a group that was not opened");
      }
      this.#pass(tag);
    }
    throw new RangeError("invalid protobuf: the message ends inside a group");
  }

  /** A tag or a length. */
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
    throw new RangeError("invalid protobuf: the message ends inside a field, or a tag or length in it is too large");
  }

  /** The content of a field with a length: a view, not a copy. */
  bytes(): Uint8Array {
    return this.#bytes.subarray(this.contentAt, this.#at);
  }

  /** A text. */
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

  /** A whole number; exact up to 2 ** 53. */
  int(): number {
    const bytes = this.#bytes;
    let at = this.valueAt;
    let byte = bytes[at++]!;
    if (byte < 0x80) return byte;
    // In halves of 28 and 36 bits, so that negative numbers, whose upper bits are all set, stay exact.
    let low = byte & 0x7f;
    for (let shift = 7; shift < 28; shift += 7) {
      byte = bytes[at++]!;
      low |= (byte & 0x7f) << shift;
      if (byte < 0x80) return low;
    }
    let high = 0;
    for (let factor = 1; at < this.#at; factor *= 128) high += (bytes[at++]! & 0x7f) * factor;
    // 64 bits are 28 and 36 of them; a tenth byte of others than the lowest bit says nothing.
    high %= 2 ** 36;
    if (high >= 2 ** 35) high -= 2 ** 36;
    return high * 2 ** 28 + low;
  }

  /** Yes or no. */
  bool(): boolean {
    return this.int() !== 0;
  }

  /** The fields of the message that is the value. */
  inner(): Fields {
    return new Fields(this.#bytes, this.contentAt, this.#at);
  }
}

/** A text of a message; of several the last one counts, as in protobuf; "" without it. */
export function readTextField(message: Uint8Array, tag: number): string {
  let text = "";
  for (const at = new Fields(message); at.next();) if (at.tag === tag) text = at.text();
  return text;
}

/** A number of a message; 0 without it. */
export function intOf(message: Uint8Array, tag: number): number {
  let value = 0;
  for (const at = new Fields(message); at.next();) if (at.tag === tag) value = at.int();
  return value;
}

/** Bytes or a message in a message: the last one. */
export function readBytes(message: Uint8Array, tag: number): Uint8Array | undefined {
  let bytes: Uint8Array | undefined;
  for (const at = new Fields(message); at.next();) if (at.tag === tag) bytes = at.bytes();
  return bytes;
}

/** The same, but the first one, behind which nothing is looked at. */
export function firstOf(message: Uint8Array, tag: number): Uint8Array | undefined {
  for (const at = new Fields(message); at.next();) if (at.tag === tag) return at.bytes();
  return undefined;
}

/** Writes a message field by field. What is written is there, also where it is the default. */
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

  /** A message in it, as `write` writes that. */
  message(tag: number, write: (message: this) => void): this {
    this.#writer.uint32(tag).fork();
    write(this);
    this.#writer.join();
    return this;
  }

  /** Fields that are encoded already. */
  raw(fields: Uint8Array): this {
    this.#writer.raw(fields);
    return this;
  }

  finish(): Uint8Array<ArrayBuffer> {
    return this.#writer.finish();
  }
}

/** A length as it stands before what it counts. */
export function lengthPrefix(length: number): Uint8Array {
  let size = 1;
  for (let rest = length; rest > 0x7f; rest = Math.floor(rest / 128)) size++;
  const prefix = new Uint8Array(size);
  let rest = length;
  for (let i = 0; i < size - 1; i++, rest = Math.floor(rest / 128)) prefix[i] = (rest & 0x7f) | 0x80;
  prefix[size - 1] = rest;
  return prefix;
}

/** A field's tag as it stands before its value. */
export function fieldHead(tag: number): Uint8Array {
  return lengthPrefix(tag);
}

/** The tag of a field with a length of which only the number is known, from a descriptor or from the core. */
export const tagWithLength = (number: number): number => number * 8 + 2;

/** Parts one behind the other; encoded messages so are one message with the fields of all. A part that is all of it is not copied. */
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

/** Milliseconds of an encoded google.protobuf.Timestamp or Duration, which have the same fields. */
export function timeMs(encoded: Uint8Array): number {
  let ms = 0;
  for (const at = new Fields(encoded); at.next();) {
    if (at.tag === Timestamp.seconds) ms += at.int() * 1000;
    else if (at.tag === Timestamp.nanos) ms += at.int() / 1e6;
  }
  return ms;
}
