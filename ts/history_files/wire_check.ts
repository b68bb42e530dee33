// Validates that bytes are a message of a type, including nested fields. Decoding also validates,
// but creates objects and takes more than ten times as long, and a replay gate only forwards
// thousands of histories.
//
// Accepts less than a decoder: fields with an unexpected wire type, and groups, are left to the
// decoder.
import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";

/** The nesting limit of Protobuf decoders. */
const MAX_MESSAGES = 100;

interface FieldCheck {
  readonly wireType: number;
  readonly mayBePacked: boolean;
  readonly isText: boolean;
  readonly message: MessageCheck | undefined;
}

/** Indexed by field number. */
type MessageCheck = (FieldCheck | undefined)[];

const checks = new WeakMap<DescMessage, MessageCheck>();

/** Returns whether the bytes are certainly valid; false if only a decoder can decide. */
export function isSurely(desc: DescMessage, bytes: Uint8Array): boolean {
  return new Reader(bytes).isMessage(checkOf(desc), bytes.length, 0);
}

function checkOf(desc: DescMessage): MessageCheck {
  const known = checks.get(desc);
  if (known !== undefined) return known;
  const check: MessageCheck = [];
  // Stored before its fields are added, because message types can be recursive.
  checks.set(desc, check);
  for (const field of desc.fields) check[field.number] = fieldCheck(field);
  return check;
}

function fieldCheck(field: DescField): FieldCheck {
  if (field.fieldKind !== "map") return valueCheck(field, field.fieldKind === "list");
  const entry: MessageCheck = [];
  entry[1] = scalarCheck(field.mapKey, false);
  entry[2] = valueCheck(field, false);
  return messageCheck(entry);
}

const messageCheck = (message: MessageCheck): FieldCheck => ({
  wireType: 2,
  mayBePacked: false,
  isText: false,
  message,
});

function scalarCheck(scalar: ScalarType, isList: boolean): FieldCheck {
  const type = wireType(scalar);
  return {
    wireType: type,
    mayBePacked: isList && type !== 2,
    isText: scalar === ScalarType.STRING,
    message: undefined,
  };
}

/** Enums are numbers. */
const valueCheck = (
  { message, scalar = ScalarType.INT32 }: DescField,
  isList: boolean,
): FieldCheck =>
  message === undefined ? scalarCheck(scalar, isList) : messageCheck(checkOf(message));

function wireType(scalar: ScalarType): number {
  switch (scalar) {
    case ScalarType.STRING:
    case ScalarType.BYTES:
      return 2;
    case ScalarType.DOUBLE:
    case ScalarType.FIXED64:
    case ScalarType.SFIXED64:
      return 1;
    case ScalarType.FLOAT:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
      return 5;
    default:
      return 0;
  }
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

function isUtf8(bytes: Uint8Array): boolean {
  try {
    utf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  isMessage(check: MessageCheck, end: number, depth: number): boolean {
    if (depth >= MAX_MESSAGES) return false;
    while (this.#at < end) {
      const tag = this.#number(end);
      if (tag < 8) return false;
      const field = check[tag >>> 3];
      const type = tag & 7;
      if (field !== undefined && field.wireType !== type && !(type === 2 && field.mayBePacked)) {
        return false;
      }
      switch (type) {
        case 0:
          if (!this.#passVarint(end)) return false;
          break;
        case 1:
          this.#at += 8;
          break;
        case 5:
          this.#at += 4;
          break;
        case 2: {
          const length = this.#number(end);
          if (length < 0 || this.#at + length > end) return false;
          if (!this.#isContent(field, this.#at + length, depth)) return false;
          break;
        }
        default:
          return false;
      }
    }
    return this.#at === end;
  }

  /** Checks a length-delimited field. */
  #isContent(field: FieldCheck | undefined, end: number, depth: number): boolean {
    if (field?.message !== undefined) return this.isMessage(field.message, end, depth + 1);
    const start = this.#at;
    this.#at = end;
    if (field?.isText === true) return this.#isText(start, end);
    return field?.mayBePacked !== true || this.#isPacked(field.wireType, start, end);
  }

  #isPacked(wireType: number, start: number, end: number): boolean {
    if (wireType !== 0) return (end - start) % (wireType === 1 ? 8 : 4) === 0;
    this.#at = start;
    while (this.#at < end) if (!this.#passVarint(end)) return false;
    return true;
  }

  /** Checks for valid UTF-8, which decoders require. */
  #isText(start: number, end: number): boolean {
    const bytes = this.#bytes;
    for (let at = start; at < end; at++) {
      if (bytes[at]! > 0x7f) return isUtf8(bytes.subarray(start, end));
    }
    return true;
  }

  /** Reads a tag or length below 2 ** 28; -1 if it is invalid. */
  #number(end: number): number {
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (this.#at >= end) return -1;
      const byte = this.#bytes[this.#at++]!;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return -1;
  }

  #passVarint(end: number): boolean {
    for (let i = 0; i < 10 && this.#at < end; i++) {
      if (this.#bytes[this.#at++]! < 0x80) return true;
    }
    return false;
  }
}
