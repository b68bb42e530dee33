// Converts lists and records of values, as exported by `@temporalio/common` for converters and
// interceptors.
import { ValueError } from "./errors.ts";
import {
  type Payload,
  type PayloadConverter,
  RawValue,
  rawValueTypeInfo,
} from "./payload_converters.ts";
import type { SerializationContext, TypeInfo } from "./type_info.ts";

/** Encodes a value with a type hint. */
export function toPayloadWithTypeInfo<T, D = T>(
  converter: PayloadConverter,
  value: T,
  context: SerializationContext | undefined,
  typeInfo: TypeInfo<T, D> | undefined,
): Payload {
  if (typeInfo as unknown === rawValueTypeInfo) {
    if (!(value instanceof RawValue)) {
      throw new ValueError("RawValue TypeInfo requires a RawValue value");
    }
    return value.payload;
  }
  const transfer = typeInfo?.transferTypeConverter;
  const travels = transfer === undefined ? value as unknown as D : transfer.toTransferType(value);
  return converter.toPayload<D>(travels, context, typeInfo?.payloadConverterHint);
}

/** Decodes a value with a type hint. */
export function fromPayloadWithTypeInfo<T, D = T>(
  converter: PayloadConverter,
  payload: Payload,
  context: SerializationContext | undefined,
  typeInfo: TypeInfo<T, D> | undefined,
): T {
  if (typeInfo as unknown === rawValueTypeInfo) return RawValue.fromPayload(payload) as T;
  const value = converter.fromPayload<D>(payload, context, typeInfo?.payloadConverterHint);
  const transfer = typeInfo?.transferTypeConverter;
  return transfer === undefined ? value as unknown as T : transfer.fromTransferType(value);
}

/** Encodes values; undefined without any. */
export function toPayloads(
  converter: PayloadConverter,
  ...values: unknown[]
): Payload[] | undefined {
  return toPayloadsWithContext(converter, undefined, values);
}

/** Encodes values; undefined without any. */
export function toPayloadsWithContext(
  converter: PayloadConverter,
  context: SerializationContext | undefined,
  values: unknown[],
  typeInfo?: readonly TypeInfo[],
): Payload[] | undefined {
  if (values.length === 0) return undefined;
  return values.map((value, i) => toPayloadWithTypeInfo(converter, value, context, typeInfo?.[i]));
}

/** Encodes a value; returns undefined and null unchanged. */
export function convertOptionalToPayload(
  payloadConverter: PayloadConverter,
  value: unknown,
  context?: SerializationContext,
): Payload | null | undefined {
  return value === undefined || value === null ? value : payloadConverter.toPayload(value, context);
}

/** Encodes the values of a record. */
// deno-lint-ignore no-explicit-any
export function mapToPayloads<K extends string, T = any>(
  converter: PayloadConverter,
  map: Record<K, T>,
  context?: SerializationContext,
): Record<K, Payload> {
  const entries = Object.entries(map) as [K, T][];
  return Object.fromEntries(
    entries.map(([key, value]) => [key, converter.toPayload(value, context)]),
  ) as Record<K, Payload>;
}

/** Decodes one value of a list; undefined if it is missing. */
export function fromPayloadsAtIndex<T, D = T>(
  converter: PayloadConverter,
  index: number,
  payloads?: Payload[] | null,
  context?: SerializationContext,
  typeInfo?: TypeInfo<T, D>,
): T {
  const payload = payloads?.[index];
  return payload ? fromPayloadWithTypeInfo(converter, payload, context, typeInfo) : undefined as T;
}

/** Decodes a list. */
export function arrayFromPayloads(
  converter: PayloadConverter,
  payloads?: Payload[] | null,
  context?: SerializationContext,
  typeInfo?: readonly TypeInfo[],
): unknown[] {
  return (payloads ?? []).map((payload, i) =>
    fromPayloadWithTypeInfo(converter, payload, context, typeInfo?.[i])
  );
}

/** Decodes the values of a record; undefined without a record. */
export function mapFromPayloads<K extends string, T = unknown>(
  converter: PayloadConverter,
  map?: Record<K, Payload> | null,
  context?: SerializationContext,
): Record<K, T> | undefined {
  if (map === undefined || map === null) return undefined;
  const entries = Object.entries(map) as [K, Payload][];
  return Object.fromEntries(
    entries.map(([key, payload]) => [key, converter.fromPayload<T>(payload, context)]),
  ) as Record<K, T>;
}
