// Values of messages and workflows whose types the program says (`typeInfo`): converted as `@temporalio/common` does it.
import { fromPayloads, type Payload, type PayloadConverter } from "../converter/payload.ts";
import { arrayFromPayloads, toPayloadWithTypeInfo } from "./common/payloads.ts";
import type { PayloadTypeInfo, TypeInfo } from "./common/type_info.ts";

/** What is known of a message's values: of arguments, and of a result where it has one. */
export type ValueTypes = Pick<PayloadTypeInfo, "inputTypes" | "outputType">;

/** Arguments of payloads. */
export function argumentsOf(converter: PayloadConverter, payloads: readonly Payload[], types: ValueTypes | undefined): unknown[] {
  const { inputTypes } = types ?? {};
  if (inputTypes === undefined) return fromPayloads(converter, payloads as Payload[]);
  return arrayFromPayloads(converter as never, payloads as never, undefined, inputTypes);
}

/** The payload of a value. */
export function payloadOf(converter: PayloadConverter, value: unknown, type: TypeInfo | undefined): Payload {
  return type === undefined
    ? converter.toPayload(value)
    : toPayloadWithTypeInfo(converter as never, value, undefined, type) as Payload;
}
