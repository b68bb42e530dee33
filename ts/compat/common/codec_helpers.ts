// The functions of `@temporalio/common/lib/internal-non-workflow` about codecs: programs that read raw histories import them. They run on
// the host's side alone, because codecs wait.
//
// All files of `lib` are one module here, and two of them have functions `encode` and `decode`: the arguments tell them apart.
import type { LoadedDataConverter, PayloadCodec } from "./data_converter.ts";
import { PayloadConverterError } from "./errors.ts";
import type { Payload } from "./payload_converters.ts";
import { arrayFromPayloads, fromPayloadsAtIndex, toPayloadsWithContext } from "./payloads.ts";
import { decode as textOf, encode as bytesOf } from "./text.ts";
import type { SerializationContext, TypeInfo } from "./type_info.ts";

type Optional<T> = T | null | undefined;
type Payloads<K extends string> = Record<K, Payload>;

/** The bytes of a text. */
export function encode(text: string): Uint8Array;
/** Payloads as they are sent: through each codec, the first one first. */
export function encode(codecs: PayloadCodec[], payloads: Payload[], context?: SerializationContext): Promise<Payload[]>;
export function encode(
  what: string | PayloadCodec[],
  payloads: Payload[] = [],
  context?: SerializationContext,
): Uint8Array | Promise<Payload[]> {
  return typeof what === "string" ? bytesOf(what) : through(what, "encode", payloads, context);
}

/** The text of bytes. */
export function decode(bytes: Uint8Array): string;
/** Payloads as they were before codecs: through each codec, the last one first. */
export function decode(codecs: PayloadCodec[], payloads: Payload[], context?: SerializationContext): Promise<Payload[]>;
export function decode(
  what: Uint8Array | PayloadCodec[],
  payloads: Payload[] = [],
  context?: SerializationContext,
): string | Promise<Payload[]> {
  return Array.isArray(what) ? through([...what].reverse(), "decode", payloads, context) : textOf(what);
}

async function through(
  codecs: readonly PayloadCodec[],
  way: "encode" | "decode",
  payloads: Payload[],
  context?: SerializationContext,
): Promise<Payload[]> {
  let current = payloads;
  for (const codec of codecs) current = await codec[way](current, context);
  return current;
}

/** One payload as it was before codecs; undefined and null stay what they are. */
export async function decodeOptionalSingle(
  codecs: PayloadCodec[],
  payload: Optional<Payload>,
  context?: SerializationContext,
): Promise<Optional<Payload>> {
  return payload === undefined || payload === null ? payload : (await decode(codecs, [payload], context))[0];
}

/** The value of one payload as it came; undefined and null stay what they are. */
export async function decodeOptionalSinglePayload<T>(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  payload?: Optional<Payload>,
  context?: SerializationContext,
): Promise<Optional<T>> {
  const decoded = await decodeOptionalSingle(payloadCodecs, payload, context);
  return decoded === undefined || decoded === null ? decoded : payloadConverter.fromPayload<T>(decoded, context);
}

/** The payload of a value as it is sent. */
export async function encodeToPayload(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  value: unknown,
  context?: SerializationContext,
): Promise<Payload> {
  return (await encode(payloadCodecs, [payloadConverter.toPayload(value, context)], context))[0]!;
}

/** The payloads of values as they are sent; undefined where there are none. */
export async function encodeToPayloads(converter: LoadedDataConverter, ...values: unknown[]): Promise<Payload[] | undefined> {
  return await encodeToPayloadsWithContext(converter, undefined, values);
}

/** The payloads of values as they are sent; undefined where there are none. */
export async function encodeToPayloadsWithContext(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  context: SerializationContext | undefined,
  values: unknown[],
  typeInfo?: readonly TypeInfo[],
): Promise<Payload[] | undefined> {
  const payloads = toPayloadsWithContext(payloadConverter, context, values, typeInfo);
  return payloads && await encode(payloadCodecs, payloads, context);
}

/** The values of payloads as they came. */
export async function decodeArrayFromPayloads(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  payloads?: Payload[] | null,
  context?: SerializationContext,
  typeInfo?: readonly TypeInfo[],
): Promise<unknown[]> {
  return arrayFromPayloads(payloadConverter, await decode(payloadCodecs, payloads ?? [], context), context, typeInfo);
}

/** The value of one payload of a list as it came; undefined where it has none there. */
export async function decodeFromPayloadsAtIndex<T, D = T>(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  index: number,
  payloads?: Payload[] | null,
  context?: SerializationContext,
  typeInfo?: TypeInfo<T, D>,
): Promise<T> {
  return fromPayloadsAtIndex(payloadConverter, index, await decode(payloadCodecs, payloads ?? [], context), context, typeInfo);
}

/** The payloads of a record's values as they are sent. */
export async function encodeMapToPayloads<K extends string>(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  map: Record<K, unknown>,
  context?: SerializationContext,
): Promise<Payloads<K>> {
  return await eachOf(map, async (value, key) => {
    const payload = payloadConverter.toPayload(value, context);
    // A converter of the program may have none for it, whatever its type says.
    if (payload as unknown === undefined) throw new PayloadConverterError(`Failed to encode entry: ${key}: ${value}`);
    return (await encode(payloadCodecs, [payload], context))[0]!;
  });
}

/** The values of a record's payloads as they came; undefined where there is no record. */
export async function decodeMapFromPayloads<K extends string>(
  converter: LoadedDataConverter,
  map: Optional<Payloads<K>>,
  context?: SerializationContext,
): Promise<Record<K, unknown> | undefined> {
  if (map === undefined || map === null) return undefined;
  return await eachOf(map, (payload) => decodeOptionalSinglePayload(converter, payload, context));
}

async function eachOf<K extends string, From, To>(
  map: Record<K, From>,
  to: (value: From, key: string) => Promise<To>,
): Promise<Record<K, To>> {
  const entries = Object.entries<From>(map).map(async ([key, value]) => [key, await to(value, key)] as const);
  return Object.fromEntries(await Promise.all(entries)) as Record<K, To>;
}
