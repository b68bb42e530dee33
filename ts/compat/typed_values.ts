// Converts values with type hints of the program (`typeInfo`), as `@temporalio/common` does.
import {
  fromPayloads,
  type Payload,
  type PayloadConverter,
  toPayloads,
} from "../converter/payload.ts";
import {
  arrayFromPayloads,
  fromPayloadWithTypeInfo,
  toPayloadWithTypeInfo,
} from "./common/payloads.ts";
import type { PayloadTypeInfo, TypeInfo } from "./common/type_info.ts";

/** Type hints of a message: for arguments, and for a result if there is one. */
export type ValueTypes = Pick<PayloadTypeInfo, "inputTypes" | "outputType">;

/** Decodes arguments. */
export function decodeArguments(
  converter: PayloadConverter,
  payloads: readonly Payload[],
  types: ValueTypes | undefined,
): unknown[] {
  const { inputTypes } = types ?? {};
  if (inputTypes === undefined) return fromPayloads(converter, payloads as Payload[]);
  return arrayFromPayloads(converter as never, payloads as never, undefined, inputTypes);
}

/** Encodes arguments. */
export function encodeArguments(
  converter: PayloadConverter,
  args: readonly unknown[],
  types: ValueTypes | undefined,
): Payload[] {
  const { inputTypes } = types ?? {};
  return inputTypes === undefined
    ? toPayloads(converter, args)
    : args.map((arg, i) => encodeTypedValue(converter, arg, inputTypes[i]));
}

/** Decodes a result; undefined without one. */
export function decodeTypedValue(
  converter: PayloadConverter,
  payload: Payload | undefined,
  type: TypeInfo | undefined,
): unknown {
  if (payload === undefined) return undefined;
  if (type === undefined) return converter.fromPayload(payload);
  return fromPayloadWithTypeInfo(converter as never, payload as never, undefined, type);
}

/** Encodes a value. */
export function encodeTypedValue(
  converter: PayloadConverter,
  value: unknown,
  type: TypeInfo | undefined,
): Payload {
  return type === undefined
    ? converter.toPayload(value)
    : toPayloadWithTypeInfo(converter as never, value, undefined, type) as Payload;
}
