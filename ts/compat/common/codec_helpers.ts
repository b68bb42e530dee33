// Codec functions of `@temporalio/common/lib/internal-non-workflow`, for programs that read raw
// histories. Only on the host, because codecs are asynchronous. All files of `lib` are one module
// here, and two of them have functions `encode` and `decode`, distinguished by their arguments.
import type { LoadedDataConverter, PayloadCodec } from "./data_converter.ts";
import { PayloadConverterError } from "./errors.ts";
import type { Payload } from "./payload_converters.ts";
import { arrayFromPayloads, fromPayloadsAtIndex, toPayloadsWithContext } from "./payloads.ts";
import { decode as textOf, encode as bytesOf } from "./text.ts";
import type { SerializationContext, TypeInfo } from "./type_info.ts";

type Optional<T> = T | null | undefined;
type Payloads<K extends string> = Record<K, Payload>;

/** Returns the UTF-8 bytes of a text. */
export function encode(text: string): Uint8Array;
/** Encodes payloads with each codec, in order. */
export function encode(
  codecs: PayloadCodec[],
  payloads: Payload[],
  context?: SerializationContext,
): Promise<Payload[]>;
export function encode(
  what: string | PayloadCodec[],
  payloads: Payload[] = [],
  context?: SerializationContext,
): Uint8Array | Promise<Payload[]> {
  return typeof what === "string" ? bytesOf(what) : through(what, "encode", payloads, context);
}

/** Decodes UTF-8 bytes. */
export function decode(bytes: Uint8Array): string;
/** Decodes payloads with each codec, in reverse order. */
export function decode(
  codecs: PayloadCodec[],
  payloads: Payload[],
  context?: SerializationContext,
): Promise<Payload[]>;
export function decode(
  what: Uint8Array | PayloadCodec[],
  payloads: Payload[] = [],
  context?: SerializationContext,
): string | Promise<Payload[]> {
  return Array.isArray(what)
    ? through([...what].reverse(), "decode", payloads, context)
    : textOf(what);
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

/** Decodes one payload with codecs; returns undefined and null unchanged. */
export async function decodeOptionalSingle(
  codecs: PayloadCodec[],
  payload: Optional<Payload>,
  context?: SerializationContext,
): Promise<Optional<Payload>> {
  return payload === undefined || payload === null
    ? payload
    : (await decode(codecs, [payload], context))[0];
}

/** Decodes the value of a payload; returns undefined and null unchanged. */
export async function decodeOptionalSinglePayload<T>(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  payload?: Optional<Payload>,
  context?: SerializationContext,
): Promise<Optional<T>> {
  const decoded = await decodeOptionalSingle(payloadCodecs, payload, context);
  return decoded === undefined || decoded === null
    ? decoded
    : payloadConverter.fromPayload<T>(decoded, context);
}

/** Encodes a value. */
export async function encodeToPayload(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  value: unknown,
  context?: SerializationContext,
): Promise<Payload> {
  return (await encode(payloadCodecs, [payloadConverter.toPayload(value, context)], context))[0]!;
}

/** Encodes values; undefined without any. */
export async function encodeToPayloads(
  converter: LoadedDataConverter,
  ...values: unknown[]
): Promise<Payload[] | undefined> {
  return await encodeToPayloadsWithContext(converter, undefined, values);
}

/** Encodes values; undefined without any. */
export async function encodeToPayloadsWithContext(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  context: SerializationContext | undefined,
  values: unknown[],
  typeInfo?: readonly TypeInfo[],
): Promise<Payload[] | undefined> {
  const payloads = toPayloadsWithContext(payloadConverter, context, values, typeInfo);
  return payloads && await encode(payloadCodecs, payloads, context);
}

/** Decodes the values of payloads. */
export async function decodeArrayFromPayloads(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  payloads?: Payload[] | null,
  context?: SerializationContext,
  typeInfo?: readonly TypeInfo[],
): Promise<unknown[]> {
  return arrayFromPayloads(
    payloadConverter,
    await decode(payloadCodecs, payloads ?? [], context),
    context,
    typeInfo,
  );
}

/** Decodes one value of a list; undefined if it is missing. */
export async function decodeFromPayloadsAtIndex<T, D = T>(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  index: number,
  payloads?: Payload[] | null,
  context?: SerializationContext,
  typeInfo?: TypeInfo<T, D>,
): Promise<T> {
  return fromPayloadsAtIndex(
    payloadConverter,
    index,
    await decode(payloadCodecs, payloads ?? [], context),
    context,
    typeInfo,
  );
}

/** Encodes the values of a record. */
export async function encodeMapToPayloads<K extends string>(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  map: Record<K, unknown>,
  context?: SerializationContext,
): Promise<Payloads<K>> {
  return await mapValues(map, async (value, key) => {
    const payload = payloadConverter.toPayload(value, context);
    // A user's converter may return undefined, whatever its type.
    if (payload as unknown === undefined) {
      throw new PayloadConverterError(`Failed to encode entry: ${key}: ${value}`);
    }
    return (await encode(payloadCodecs, [payload], context))[0]!;
  });
}

/** Decodes the values of a record; undefined without a record. */
export async function decodeMapFromPayloads<K extends string>(
  converter: LoadedDataConverter,
  map: Optional<Payloads<K>>,
  context?: SerializationContext,
): Promise<Record<K, unknown> | undefined> {
  if (map === undefined || map === null) return undefined;
  return await mapValues(
    map,
    (payload) => decodeOptionalSinglePayload(converter, payload, context),
  );
}

async function mapValues<K extends string, From, To>(
  map: Record<K, From>,
  to: (value: From, key: string) => Promise<To>,
): Promise<Record<K, To>> {
  const entries = Object.entries<From>(map).map(async ([key, value]) =>
    [key, await to(value, key)] as const
  );
  return Object.fromEntries(await Promise.all(entries)) as Record<K, To>;
}
