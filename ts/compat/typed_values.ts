// Values of messages, workflows and activities whose types the program says (`typeInfo`): converted as `@temporalio/common` does it.
import { fromPayloads, type Payload, type PayloadConverter, toPayloads } from "../converter/payload.ts";
import { arrayFromPayloads, fromPayloadWithTypeInfo, toPayloadWithTypeInfo } from "./common/payloads.ts";
import type { PayloadTypeInfo, TypeInfo } from "./common/type_info.ts";

/** What is known of a message's values: of arguments, and of a result where it has one. */
export type ValueTypes = Pick<PayloadTypeInfo, "inputTypes" | "outputType">;

/** Arguments of payloads. */
export function decodeArguments(
  converter: PayloadConverter,
  payloads: readonly Payload[],
  types: ValueTypes | undefined,
): unknown[] {
  const { inputTypes } = types ?? {};
  if (inputTypes === undefined) return fromPayloads(converter, payloads as Payload[]);
  return arrayFromPayloads(converter as never, payloads as never, undefined, inputTypes);
}

/** Payloads of arguments. */
export function payloadsOf(converter: PayloadConverter, args: readonly unknown[], types: ValueTypes | undefined): Payload[] {
  const { inputTypes } = types ?? {};
  return inputTypes === undefined ? toPayloads(converter, args) : args.map((arg, i) => payloadOf(converter, arg, inputTypes[i]));
}

/** The value of a result; undefined where there is none. */
export function valueOf(converter: PayloadConverter, payload: Payload | undefined, type: TypeInfo | undefined): unknown {
  if (payload === undefined) return undefined;
  if (type === undefined) return converter.fromPayload(payload);
  return fromPayloadWithTypeInfo(converter as never, payload as never, undefined, type);
}

/** The payload of a value. */
export function payloadOf(converter: PayloadConverter, value: unknown, type: TypeInfo | undefined): Payload {
  return type === undefined
    ? converter.toPayload(value)
    : toPayloadWithTypeInfo(converter as never, value, undefined, type) as Payload;
}
