// Encodes messages in the official packages' form in one pass, without protobuf-es messages in
// between. Writes only objects and values of the usual form; for other ones `encodePlain` converts
// the message first. Both ways produce the same bytes.
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  ScalarType,
  toBinary,
} from "@bufbuild/protobuf";
import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { fromPlain, isWrapper, type PlainMessage, plainName } from "./plain_proto.ts";

/** Encodes a message. Throws a TypeError for a field of a wrong type. */
export function encodePlain(desc: DescMessage, plain: PlainMessage): Uint8Array {
  return encodeUsual(desc, plain) ?? toBinary(desc, fromPlain(desc, plain));
}

/** Encodes a message in one pass; returns undefined if an object or a value has an unusual form. */
export function encodeUsual(desc: DescMessage, plain: PlainMessage): Uint8Array | undefined {
  // Not kept while it is in use: a getter may encode another message.
  const to = spare ?? new BinaryWriter();
  spare = undefined;
  const encoding: Encoding = { to, fields: [], top: 0, sound: new Map() };
  if (!writeFields(plain, encoding, makePlan(desc))) return undefined;
  const bytes = to.finish();
  if (bytes.length <= MAX_SPARE_BYTES) spare = to;
  return bytes;
}

/** The last writer: growing the buffer of a new one would cost more than encoding. */
let spare: BinaryWriter | undefined;
/** Limits the memory of an unused writer, to about twice as much. */
const MAX_SPARE_BYTES = 1 << 20;

interface Encoding {
  readonly to: BinaryWriter;
  /** A stack up to `top`: the set fields of the messages that are being written. */
  readonly fields: FieldPlan[];
  top: number;
  /** By message type, a prototype whose properties write nothing. */
  readonly sound: Map<MessagePlan, object | null>;
}

/**
 * Writes a value with its tag, or nothing for a default that is not encoded. Returns false for a
 * value of an unusual form, and may have written parts of it.
 */
type Write = (value: unknown, encoding: Encoding, field: ValuePlan) => boolean;

interface ValuePlan {
  readonly tag: number;
  /** Value that is not encoded: the default of a field without presence. */
  readonly unset: unknown;
  readonly write: Write;
  /** The fields of a message; undefined for scalars. */
  readonly message: (() => MessagePlan) | undefined;
  /** The items of a list or a map. */
  readonly item: ValuePlan | undefined;
}

interface FieldPlan extends ValuePlan {
  readonly name: string;
  readonly number: number;
  /** A bit for each oneof of the message; 0 outside of one. */
  readonly oneof: number;
}

type MessagePlan = ReadonlyMap<string, FieldPlan>;

// ---- messages

function writeFields(plain: unknown, encoding: Encoding, plan: MessagePlan): boolean {
  if (typeof plain !== "object" || plain === null) return false;
  const prototype = Object.getPrototypeOf(plain) as object | null;
  if (encoding.sound.get(plan) !== prototype && !isSound(prototype, encoding, plan)) return false;
  const { fields, top: start } = encoding;
  let end = start;
  let last = 0;
  let sorted = true;
  // Includes properties that are not enumerable.
  for (const name of Object.getOwnPropertyNames(plain)) {
    const field = plan.get(name);
    if (field === undefined) continue;
    sorted &&= field.number > last;
    last = field.number;
    fields[end++] = field;
  }
  if (!sorted) sortByNumber(fields, start, end);
  encoding.top = end;
  let chosen = 0;
  for (let i = start; i < end; i++) {
    const field = fields[i]!;
    const value = (plain as { readonly [name: string]: unknown })[field.name];
    if (value === undefined || value === null) continue;
    if ((chosen & field.oneof) !== 0) return false;
    chosen |= field.oneof;
    if (!field.write(value, encoding, field)) return false;
  }
  encoding.top = start;
  return true;
}

/** Sorts a part of a list: few items, mostly in order. */
function sortByNumber(fields: FieldPlan[], start: number, end: number): void {
  for (let i = start + 1; i < end; i++) {
    const field = fields[i]!;
    let at = i;
    for (; at > start && fields[at - 1]!.number > field.number; at--) fields[at] = fields[at - 1]!;
    fields[at] = field;
  }
}

/** Returns whether the properties that objects inherit from a prototype write nothing. */
function isSound(prototype: object | null, encoding: Encoding, plan: MessagePlan): boolean {
  const to = new BinaryWriter();
  const trial: Encoding = { to, fields: [], top: 0, sound: new Map() };
  for (let from = prototype; from !== null; from = Object.getPrototypeOf(from) as object | null) {
    for (const name of Object.getOwnPropertyNames(from)) {
      const field = plan.get(name);
      if (field === undefined) continue;
      const { value, get } = Object.getOwnPropertyDescriptor(from, name)!;
      // The result of a getter depends on the object.
      if (get !== undefined) return false;
      if (value !== undefined && value !== null && !field.write(value, trial, field)) return false;
    }
  }
  if (to.finish().length > 0) return false;
  encoding.sound.set(plan, prototype);
  return true;
}

// ---- plans

const plans = new WeakMap<DescMessage, MessagePlan>();

function makePlan(desc: DescMessage): MessagePlan {
  let plan = plans.get(desc);
  if (plan === undefined) {
    plan = new Map(desc.fields.map((field) => [plainName(field), fieldPlan(field)]));
    plans.set(desc, plan);
  }
  return plan;
}

/** FeatureSet.FieldPresence.IMPLICIT and LEGACY_REQUIRED. */
const IMPLICIT = 2, REQUIRED = 3;
/** Bits of an integer. */
const MAX_ONEOFS = 31;
/** No value is equal to it. */
const NEVER_UNSET = Symbol("never unset");

const unusual: Write = () => false;

function fieldPlan(field: DescField): FieldPlan {
  const oneof = field.oneof === undefined ? undefined : field.parent.oneofs.indexOf(field.oneof);
  const place = {
    name: plainName(field),
    number: field.number,
    oneof: oneof === undefined ? 0 : 1 << oneof,
  };
  const value = fieldValue(field);
  const isUnusual = field.presence === REQUIRED || (oneof !== undefined && oneof >= MAX_ONEOFS);
  return { ...value, ...place, ...(isUnusual && { write: unusual }) };
}

function fieldValue(field: DescField): ValuePlan {
  const { number } = field;
  switch (field.fieldKind) {
    case "message":
      return valuePlan(number, field.message, NEVER_UNSET);
    case "list":
    case "map": {
      const of = field.message ?? field.enum ?? field.scalar!;
      const isList = field.fieldKind === "list";
      return {
        tag: makeTag(number, WireType.LengthDelimited),
        unset: NEVER_UNSET,
        write: isList ? listWriter(field) : field.mapKey === ScalarType.STRING ? writeMap : unusual,
        message: undefined,
        item: valuePlan(isList ? number : 2, of, NEVER_UNSET),
      };
    }
    case "enum":
    case "scalar": {
      const hasDefault = field.oneof === undefined && field.presence === IMPLICIT;
      return valuePlan(
        number,
        field.enum ?? field.scalar!,
        hasDefault ? getScalarDefault(field.enum ?? field.scalar!) : NEVER_UNSET,
      );
    }
  }
}

const makeTag = (number: number, wireType: WireType): number => ((number << 3) | wireType) >>> 0;

/** `of`: the type of a value. */
function valuePlan(
  number: number,
  of: DescMessage | DescEnum | ScalarType,
  unset: unknown,
): ValuePlan {
  const [wireType, write] = typeof of === "object"
    ? of.kind === "enum"
      ? SCALARS[ScalarType.INT32]!
      : [WireType.LengthDelimited, messageWriter(of)]
    : SCALARS[of] ?? [WireType.Varint, unusual];
  let plan: MessagePlan | undefined;
  const message = typeof of === "object" && of.kind === "message"
    ? () => plan ??= makePlan(of)
    : undefined;
  return { tag: makeTag(number, wireType), unset, write, message, item: undefined };
}

function getScalarDefault(of: DescEnum | ScalarType): unknown {
  if (typeof of === "object") return of.values[0]!.number;
  if (of === ScalarType.BOOL) return false;
  return of === ScalarType.STRING ? "" : 0;
}

/** Wrappers and Struct have other forms in protobuf-es. */
const messageWriter = (desc: DescMessage): Write =>
  isWrapper(desc) || desc.typeName === "google.protobuf.Struct" ? unusual : writeMessage;

function listWriter(field: DescField & { readonly fieldKind: "list" }): Write {
  if (field.packed) {
    return field.listKind === "enum" || field.scalar === ScalarType.UINT32 ? writePacked : unusual;
  }
  return field.listKind === "message" && field.delimitedEncoding ? unusual : writeList;
}

// ---- values

const writeMessage: Write = (value, encoding, { tag, message }) => {
  encoding.to.uint32(tag).fork();
  if (!writeFields(value, encoding, message!())) return false;
  encoding.to.join();
  return true;
};

/** Returns whether iterating an array reads its items by index. */
const isUsualArray = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value[Symbol.iterator] === Array.prototype[Symbol.iterator];

const writeList: Write = (value, encoding, { item }) => {
  if (!isUsualArray(value)) return false;
  for (let i = 0; i < value.length; i++) if (!item!.write(value[i], encoding, item!)) return false;
  return true;
};

/** Writes enumerations and uint32s; of the latter, those above 2 ** 31 - 1 are unusual. */
const writePacked: Write = (value, { to }, { tag }) => {
  if (!isUsualArray(value)) return false;
  if (value.length === 0) return true;
  to.uint32(tag).fork();
  for (const item of value) {
    if (!isHalf(item) || item < 0) return false;
    to.uint32(item);
  }
  to.join();
  return true;
};

const KEY = makeTag(1, WireType.LengthDelimited);

const writeMap: Write = (value, encoding, { tag, item }) => {
  if (typeof value !== "object") return false;
  const { to } = encoding;
  const map = value as { readonly [key: string]: unknown };
  for (const key of Object.keys(map)) {
    to.uint32(tag).fork().uint32(KEY).string(key);
    if (!item!.write(map[key], encoding, item!)) return false;
    to.join();
  }
  return true;
};

/** Halves of a 64-bit integer: a Long, or an object of its form. */
interface Halves {
  readonly low: unknown;
  readonly high: unknown;
  readonly unsigned?: unknown;
}

const isHalf = (value: unknown): value is number =>
  typeof value === "number" && (value | 0) === value;

/** Returns a 64-bit integer; undefined for a value of an unusual form. */
function bigintIn(value: unknown): bigint | undefined {
  if (typeof value === "bigint") return value;
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  const { low, high, unsigned } = value as Halves;
  if (!isHalf(low) || !isHalf(high)) return undefined;
  const wide = (BigInt(high) << 32n) | BigInt(low >>> 0);
  return unsigned === true ? BigInt.asUintN(64, wide) : wide;
}

const integer64Writer = (isUnsigned: boolean): Write => (value, { to }, { tag, unset }) => {
  // The bytes of small integers do not depend on the sign.
  const number = typeof value === "object" && value !== null && (value as Halves).high === 0
    ? (value as Halves).low
    : value;
  if (isHalf(number) && number >= 0) {
    if (number !== unset) to.uint32(tag).uint32(number);
    return true;
  }
  const wide = bigintIn(value);
  if (
    wide === undefined || (isUnsigned ? BigInt.asUintN(64, wide) : BigInt.asIntN(64, wide)) !== wide
  ) return false;
  if (wide === 0n && unset === 0) return true;
  to.uint32(tag);
  if (isUnsigned) to.uint64(wide);
  else to.int64(wide);
  return true;
};

const writeInt32: Write = (value, { to }, { tag, unset }) => {
  if (!isHalf(value)) return false;
  if (value !== unset) to.uint32(tag).int32(value);
  return true;
};

const writeUint32: Write = (value, { to }, { tag, unset }) => {
  if (typeof value !== "number" || (value >>> 0) !== value) return false;
  if (value !== unset) to.uint32(tag).uint32(value);
  return true;
};

const writeBool: Write = (value, { to }, { tag, unset }) => {
  if (typeof value !== "boolean") return false;
  if (value !== unset) to.uint32(tag).bool(value);
  return true;
};

const writeString: Write = (value, { to }, { tag, unset }) => {
  if (typeof value !== "string") return false;
  if (value !== unset) to.uint32(tag).string(value);
  return true;
};

const writeBytes: Write = (value, { to }, { tag, unset }) => {
  // In protobufjs, bytes that are not set read as an empty array.
  if (!(value instanceof Uint8Array)) {
    return unset !== NEVER_UNSET && isUsualArray(value) && value.length === 0;
  }
  if (value.byteLength > 0 || unset === NEVER_UNSET) to.uint32(tag).bytes(value);
  return true;
};

const writeDouble: Write = (value, { to }, { tag, unset }) => {
  if (typeof value !== "number") return false;
  // -0 is encoded.
  if (!Object.is(value, unset)) to.uint32(tag).double(value);
  return true;
};

const writeFloat: Write = (value, { to }, { tag, unset }) => {
  // Larger finite numbers are not floats.
  if (typeof value !== "number" || !Number.isFinite(Math.fround(value))) return false;
  if (!Object.is(value, unset)) to.uint32(tag).float(value);
  return true;
};

const SCALARS: { readonly [type: number]: readonly [WireType, Write] } = {
  [ScalarType.INT32]: [WireType.Varint, writeInt32],
  [ScalarType.UINT32]: [WireType.Varint, writeUint32],
  [ScalarType.INT64]: [WireType.Varint, integer64Writer(false)],
  [ScalarType.UINT64]: [WireType.Varint, integer64Writer(true)],
  [ScalarType.BOOL]: [WireType.Varint, writeBool],
  [ScalarType.STRING]: [WireType.LengthDelimited, writeString],
  [ScalarType.BYTES]: [WireType.LengthDelimited, writeBytes],
  [ScalarType.DOUBLE]: [WireType.Bit64, writeDouble],
  [ScalarType.FLOAT]: [WireType.Bit32, writeFloat],
};
